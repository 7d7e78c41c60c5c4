import type { Configuration } from '#libs/kernel';

export interface SmtpOptions {
  host: string;
  port: number;
  username?: string;
  password?: string;
  /** An encrypted connection is demanded. */
  starttls: boolean;
}

/** What the configuration says about mail, read once at boot; keys of contract 04 §14. */
export interface MailOptions {
  /** Absent: mail is off. */
  via?: { smtp: SmtpOptions } | { sinkDirectory: string };
  from: string;
  replyTo?: string;
  /** Told about every new account. */
  opsTo?: string;
  messageStream?: string;
  /** Where links lead; set whenever mail is on. */
  baseUrl: string;
  oneTimePasswordHours: number;
  resetTokenMinutes: number;
}

const SINK_SENDER = 'Penstock <penstock@localhost>';

/** Injectable form of {@link MailOptions}. */
export class MailSettings implements Readonly<MailOptions> {
  readonly via?: MailOptions['via'];
  readonly from!: string;
  readonly replyTo?: string;
  readonly opsTo?: string;
  readonly messageStream?: string;
  readonly baseUrl!: string;
  readonly oneTimePasswordHours!: number;
  readonly resetTokenMinutes!: number;

  constructor(options: MailOptions) {
    Object.assign(this, options);
  }
}

/** The boot has refused what is half set (contract 04 §11), so a host comes with a sender and a base URL. */
export function mailSettings(config: Configuration): MailSettings {
  return new MailSettings({
    via: viaOf(config),
    from: config.get('datapipelines.mail.from') ?? SINK_SENDER,
    replyTo: config.get('datapipelines.mail.reply-to'),
    opsTo: config.get('datapipelines.mail.ops-to'),
    messageStream: config.get('datapipelines.mail.message-stream'),
    baseUrl: config.get('datapipelines.auth.base-url') ?? '',
    oneTimePasswordHours: config.get('datapipelines.auth.local.one-time-password-hours'),
    resetTokenMinutes: config.get('datapipelines.auth.local.reset-token-minutes'),
  });
}

function viaOf(config: Configuration): MailOptions['via'] {
  const sinkDirectory = config.get('datapipelines.mail.dev-sink-dir');
  if (sinkDirectory !== undefined) return { sinkDirectory };
  const host = config.get('datapipelines.mail.host');
  if (host === undefined) return undefined;
  return {
    smtp: {
      host,
      port: config.get('datapipelines.mail.port'),
      username: config.get('datapipelines.mail.username'),
      password: config.get('datapipelines.mail.password'),
      starttls: config.get('datapipelines.mail.starttls'),
    },
  };
}
