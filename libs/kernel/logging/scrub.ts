import { isSecretName } from './secret-names.js';

/** What stands where a secret stood. */
export const REDACTED = '***';

/** A log line is not the place for more. */
const MAX_TEXT_CHARS = 32_768;

// Every repetition is bounded: the scrubber runs on driver messages, that is on text a stranger may have written.

/** `dpk_ID.SECRET`: the part before the dot names the key and may stay. */
const API_KEY = /\b(dpk_[A-Za-z0-9]{1,64})\.[A-Za-z0-9]{1,200}/g;

/** `scheme://user:password@host`; a password may itself hold an `@`. */
const URL_USER = /\b([a-z][a-z0-9+.-]{1,30}:\/\/)[^\s/?#"'<>]{1,1000}@/gi;

/** Database URLs with a password that holds `/`, `?` or `#`: everything up to the last `@`. */
const STORE_URL_USER =
  /\b((?:postgres(?:ql)?|mysql|mariadb|rediss?|sqlserver|mongodb(?:\+srv)?|amqps?):\/\/)[^\s"'<>]{1,1000}@/gi;

/** Oracle's `thin:user/password@host`. */
const THIN_USER = /\b(thin:)[^\s@"']{1,500}@/gi;

const BEARER = /\b(Bearer|Basic)\s{1,4}[\w.~+/=-]{4,4000}/gi;

/** A JSON web token anywhere. */
const WEB_TOKEN = /\beyJ[\w-]{8,2000}\.[\w-]{2,8000}\.[\w-]{0,1000}/g;

/** The name and sign of `name=value`, `name: value`, `"name":"value"`. */
const ASSIGNED_NAME = /(["']?)([A-Za-z_][\w.-]{0,79})\1\s{0,4}[=:]\s{0,4}/g;
const ASSIGNED_VALUE = /"(?:[^"\\\n]|\\.){0,8000}"?|'(?:[^'\\\n]|\\.){0,8000}'?|[^\s,;&"'(){}[\]<>]{1,8000}/y;

/** Cookies and authorization headers reach to the end of the line. */
const HEADER = /\b((?:set-)?cookie|(?:proxy-)?authorization)(["']?\s{0,4}[=:]\s{0,4})[^\n\r]{1,8000}/gi;

/** Every secret that is looked for has a blank or a sign beside it; ids and plain words have none. */
const PLAIN_WORD = /^[\w-]*$/;

/** Takes secrets out of free text: keys, tokens, `name=value` with a secret name, URLs with a user. */
export function scrub(text: string): string {
  if (text.length <= MAX_TEXT_CHARS && PLAIN_WORD.test(text)) return text;
  const clipped = text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS)}…[cut]` : text;
  const bare = clipped
    .replace(API_KEY, `$1.${REDACTED}`)
    .replace(STORE_URL_USER, `$1${REDACTED}@`)
    .replace(URL_USER, `$1${REDACTED}@`)
    .replace(THIN_USER, `$1${REDACTED}@`)
    .replace(HEADER, `$1$2${REDACTED}`)
    .replace(BEARER, `$1 ${REDACTED}`)
    .replace(WEB_TOKEN, REDACTED);
  return scrubAssignments(bare);
}

/** The value of a harmless name is searched too: in `Error: password=x` the outer name is `Error`. */
function scrubAssignments(text: string): string {
  let scrubbed = '';
  let copied = 0;
  ASSIGNED_NAME.lastIndex = 0;
  for (let match = ASSIGNED_NAME.exec(text); match; match = ASSIGNED_NAME.exec(text)) {
    if (!isSecretName(match[2] ?? '')) continue;
    ASSIGNED_VALUE.lastIndex = ASSIGNED_NAME.lastIndex;
    const value = ASSIGNED_VALUE.exec(text)?.[0];
    if (value === undefined) continue;
    const quote = /^["']/.exec(value)?.[0] ?? '';
    scrubbed += `${text.slice(copied, ASSIGNED_NAME.lastIndex)}${quote}${REDACTED}${quote}`;
    copied = ASSIGNED_NAME.lastIndex += value.length;
  }
  return scrubbed + text.slice(copied);
}
