export { MailClaimRepository, mailPlace, type MailSendRow } from './mail-claims.repository.js';
export { MailDispatcher } from './mail-dispatcher.js';
export { MailNotices } from './mail-notices.js';
export { MailSettings, mailSettings, type MailOptions } from './mail-settings.js';
export { MailTransport, type Delivery } from './mail-transport.js';
export type { MailMessage } from './mail-message.js';
export type { MailKind, Notice, Person } from './notice.js';
export { MailModule } from './mail.module.js';
