import { Module } from '@nestjs/common';
import { AuditModule } from '#libs/audit';
import { Configuration } from '#libs/kernel';
import { MailClaimRepository } from './mail-claims.repository.js';
import { MailDispatcher } from './mail-dispatcher.js';
import { MailNotices } from './mail-notices.js';
import { MailSettings, mailSettings } from './mail-settings.js';
import { MailTransport, type Delivery } from './mail-transport.js';
import { SinkTransport } from './sink-transport.js';
import { SmtpTransport } from './smtp-transport.js';

/** Mail is off: nothing is claimed, so nothing is ever brought here. */
class NoTransport extends MailTransport {
  async deliver(): Promise<Delivery> {
    return { outcome: 'failed', reason: 'mail is off' };
  }
}

export function transportOf({ via }: MailSettings): MailTransport {
  if (via === undefined) return new NoTransport();
  return 'smtp' in via ? new SmtpTransport(via.smtp) : new SinkTransport(via.sinkDirectory);
}

/** Messages to people. Needs `Configuration`, `Database` and `Logger` of the infrastructure. */
@Module({
  imports: [AuditModule],
  providers: [
    { provide: MailSettings, useFactory: mailSettings, inject: [Configuration] },
    { provide: MailTransport, useFactory: transportOf, inject: [MailSettings] },
    MailClaimRepository,
    MailDispatcher,
    MailNotices,
  ],
  exports: [MailClaimRepository, MailDispatcher, MailNotices, MailSettings],
})
export class MailModule {}
