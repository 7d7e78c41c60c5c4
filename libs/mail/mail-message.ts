import { noticeText } from './notice-text.js';
import { domainOf, type Notice } from './notice.js';
import type { MailSettings } from './mail-settings.js';

/** A message ready to be handed over; `messageId` is ours, so that log, row and mail name one thing. */
export interface MailMessage {
  messageId: string;
  from: string;
  replyTo: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string>;
}

/** The message of a claim. @throws TypeError when a header value holds a line break, which would forge headers */
export function composeMessage(claimId: string, to: string, notice: Notice, settings: MailSettings): MailMessage {
  const { from, replyTo = from, messageStream } = settings;
  const { subject, text, html } = noticeText(notice, settings);
  const message: MailMessage = {
    messageId: `<${claimId}@${senderDomain(from)}>`,
    from,
    replyTo,
    to,
    subject,
    text,
    html,
    headers: {
      'Auto-Submitted': 'auto-generated',
      ...(messageStream === undefined ? {} : { 'X-PM-Message-Stream': messageStream }),
    },
  };
  const { text: _text, html: _html, headers, ...values } = message;
  for (const [name, value] of Object.entries({ ...values, ...headers })) {
    if (/[\p{Cc}\u2028\u2029]/u.test(value)) throw new TypeError(`the header ${name} holds a control character`);
  }
  return message;
}

function senderDomain(from: string): string {
  return domainOf(from.replace(/>$/, ''));
}
