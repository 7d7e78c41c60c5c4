/** Shape of the library's failures. */
interface SmtpFailure {
  code?: unknown;
  /** The verb of the dialogue that was under way. */
  command?: unknown;
  responseCode?: unknown;
  response?: unknown;
  /** The library's own words, or those of the operating system and of TLS; a server's stand in `response`. */
  message?: unknown;
}

/**
 * Before the body is sent a server's words can tell nothing of it. Afterwards, and while somebody signs in, only its
 * numbers are kept: a filter may quote what it refused, and a one-time password must not reach a row (contract 04 §11).
 */
const QUOTED_AFTER = new Set(['CONN', 'EHLO', 'HELO', 'STARTTLS', 'MAIL FROM', 'RCPT TO']);
const STATUS = /^\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?/;
const MAX_QUOTED = 200;

/** Why a message was not taken, in one line for operators. */
export function refusalReason(error: unknown): string {
  const { code, command, response, message } = error as SmtpFailure;
  if ((error as { name?: unknown }).name === 'AbortError') return 'the attempt took too long';
  const verb = typeof command === 'string' ? command : 'unknown';
  const at = `${String(code ?? 'unknown')} at ${verb}`;
  if (typeof response !== 'string' || response === '') {
    return verb === 'CONN' || verb === 'STARTTLS' ? `${at}: ${oneLine(String(message))}` : at;
  }
  const line = oneLine(response);
  const said = QUOTED_AFTER.has(verb) ? line : (STATUS.exec(line)?.[0] ?? '');
  return said === '' ? at : `${at}: ${said}`;
}

function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_QUOTED);
}
