import { flag, integer, optionalText, secret } from '../definition.js';
import { ABSOLUTE_PATH, EMAIL, HEADER_WORD, HOST_NAME, MAILBOX } from '../forms.js';

/** Mail is on when `host` and `from` are set, or the folder of the development sink (contract 04 §11). */
export const mailKeys = {
  'datapipelines.mail.host': optionalText({
    form: HOST_NAME,
    about: 'Mail server that takes our messages.',
  }),
  'datapipelines.mail.port': integer({
    default: 587,
    min: 1,
    max: 65_535,
    about: 'Its port; on 465 the connection is encrypted from the first byte, elsewhere by STARTTLS.',
  }),
  'datapipelines.mail.username': optionalText({
    about: 'User name at the mail server; without one nobody signs in there.',
  }),
  'datapipelines.mail.password': secret({
    about: 'Password at the mail server.',
  }),
  'datapipelines.mail.starttls': flag({
    default: true,
    about: 'Whether an encrypted connection is demanded; a server that offers none then gets no message.',
  }),
  'datapipelines.mail.from': optionalText({
    form: MAILBOX,
    about: 'Sender of our messages.',
  }),
  'datapipelines.mail.reply-to': optionalText({
    form: MAILBOX,
    about: 'Where answers go; without it, to the sender.',
  }),
  'datapipelines.mail.ops-to': optionalText({
    form: EMAIL,
    about: 'Address of the operators, told about every new account.',
  }),
  'datapipelines.mail.message-stream': optionalText({
    form: HEADER_WORD,
    about: 'Value of the header `X-PM-Message-Stream`, by which a mail service separates kinds of mail.',
  }),
  'datapipelines.mail.dev-sink-dir': optionalText({
    form: ABSOLUTE_PATH,
    about: 'Development: messages become `.eml` files in this folder instead of being sent.',
  }),
};
