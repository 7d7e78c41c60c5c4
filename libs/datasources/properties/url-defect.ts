/** Why a JDBC URL was refused: the word for `details.reason`, a sentence that never quotes the URL, and the code. */
export class UrlDefect extends Error {
  override readonly name = 'UrlDefect';

  constructor(
    readonly reason: string,
    message: string,
    readonly details: Record<string, unknown> = {},
    readonly code:
      | 'datasource.validation.jdbc_url_malformed'
      | 'datasource.driver_not_loaded' = 'datasource.validation.jdbc_url_malformed',
  ) {
    super(message);
  }
}

/** Strict percent-decoding: a stray `%`, bytes that are no UTF-8, and control characters are defects. */
export function percentDecode(text: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw new UrlDefect('percent_encoding', 'The URL has a percent sign that starts no encoded character.');
  }
  if (/[\u0000-\u001f\u007f]/.test(decoded)) {
    throw new UrlDefect('control_character', 'The URL contains a control character.');
  }
  return decoded;
}

/** `k=v&k=v` with percent-decoding; a repeated or empty key is a defect. */
export function parseQuery(text: string): Map<string, string> {
  const parameters = new Map<string, string>();
  if (text === '') return parameters;
  for (const part of text.split('&')) {
    const equals = part.indexOf('=');
    const key = percentDecode(equals < 0 ? part : part.slice(0, equals));
    const value = equals < 0 ? '' : percentDecode(part.slice(equals + 1));
    if (key === '') throw new UrlDefect('parameter_empty', 'The URL has a parameter without a name.');
    if (parameters.has(key)) {
      throw new UrlDefect('parameter_repeated', `The URL gives ${key} twice.`, { key });
    }
    parameters.set(key, value);
  }
  return parameters;
}

export interface HostPort {
  host: string;
  port: number;
}

const HOST_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})$/;
const IPV6 = /^[0-9A-Fa-f:.]{2,45}$/;

/** `host`, `host:port` or `[v6]:port`. */
export function parseHostPort(text: string, defaultPort: number): HostPort {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/s.exec(text);
  if (bracketed) {
    const [, host = '', port] = bracketed;
    if (!IPV6.test(host) || !host.includes(':')) {
      throw new UrlDefect('host', 'The brackets in the URL hold no IPv6 address.');
    }
    return { host, port: parsePort(port, defaultPort) };
  }
  const colon = text.indexOf(':');
  const host = colon < 0 ? text : text.slice(0, colon);
  if (text.includes('[') || text.includes(']') || text.indexOf(':', colon + 1) > colon) {
    throw new UrlDefect('host', 'An IPv6 address in a URL stands in brackets.');
  }
  if (!HOST_NAME.test(host)) throw new UrlDefect('host', 'The URL names no usable host.');
  return { host, port: parsePort(colon < 0 ? undefined : text.slice(colon + 1), defaultPort) };
}

function parsePort(text: string | undefined, defaultPort: number): number {
  if (text === undefined) return defaultPort;
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new UrlDefect('port', 'The port must be a number from 1 to 65535.');
  return port;
}
