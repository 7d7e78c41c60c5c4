import { parseHostPort, UrlDefect, type HostPort } from '../../properties/url-defect.js';

/** Where an Oracle database is, whatever form the URL had. */
export interface OraclePlace {
  hosts: readonly [OracleHost, ...OracleHost[]];
  /** A service, or an instance by its older name. */
  target: { service: string } | { sid: string };
  /** Of a descriptor; `SERVER=DEDICATED` and the like are kept. */
  server: 'DEDICATED' | 'SHARED' | 'POOLED' | null;
  /** Distinguished name that the server's certificate must carry. */
  certificateName: string | null;
}

export interface OracleHost extends HostPort {
  secure: boolean;
}

export const DEFAULT_PORT = 1521;
const NAME = /^[A-Za-z0-9_$#.-]{1,128}$/;
const MAX_HOSTS = 32;

/** Keys of a descriptor that choose what lies around the ones read: they pass without effect. */
const WITHOUT_EFFECT = new Set([
  'LOAD_BALANCE',
  'FAILOVER',
  'RETRY_COUNT',
  'RETRY_DELAY',
  'CONNECT_TIMEOUT',
  'SDU',
  'ENABLE',
  'TRANSPORT_CONNECT_TIMEOUT',
  'SSL_SERVER_DN_MATCH',
  'FAILOVER_MODE',
  'INSTANCE_NAME',
  'EXPIRE_TIME',
]);
const LISTS = new Set([
  'DESCRIPTION',
  'DESCRIPTION_LIST',
  'ADDRESS_LIST',
  'ADDRESS',
  'CONNECT_DATA',
  'SECURITY',
  'FAILOVER_MODE',
]);

/** A name of a service or an instance. @throws UrlDefect */
export function targetName(text: string): string {
  if (NAME.test(text)) return text;
  throw new UrlDefect('path', 'The URL names no usable service; it stands behind the host, as in //host:1521/service.');
}

/**
 * Reads `(DESCRIPTION=…)`: addresses, service or SID, kind of server, and the certificate's name. What it is dialled with
 * is written anew, so that nothing else of the text reaches the network layer (wallets, proxies).
 *
 * @throws UrlDefect
 */
export function parseDescriptor(text: string): OraclePlace {
  const hosts: OracleHost[] = [];
  const found = new Map<string, string>();
  for (const pairs of new DescriptorReader(text).addresses(found)) hosts.push(addressOf(pairs));
  const [first, ...others] = hosts;
  if (!first) throw new UrlDefect('host', 'The descriptor names no ADDRESS.');
  if (hosts.length > MAX_HOSTS) throw new UrlDefect('host', `The descriptor names more than ${MAX_HOSTS} addresses.`);
  const service = found.get('SERVICE_NAME');
  const sid = found.get('SID');
  if ((service === undefined) === (sid === undefined)) {
    throw new UrlDefect('path', 'The descriptor needs a SERVICE_NAME or a SID, not both.');
  }
  const server = found.get('SERVER')?.toUpperCase() ?? null;
  if (server !== null && server !== 'DEDICATED' && server !== 'SHARED' && server !== 'POOLED') {
    throw new UrlDefect('descriptor', 'SERVER in the descriptor is DEDICATED, SHARED or POOLED.');
  }
  return {
    hosts: [first, ...others],
    target: service === undefined ? { sid: targetName(sid ?? '') } : { service: targetName(service) },
    server,
    certificateName: found.get('SSL_SERVER_CERT_DN') ?? null,
  };
}

function addressOf(pairs: ReadonlyMap<string, string>): OracleHost {
  const protocol = (pairs.get('PROTOCOL') ?? 'TCP').toUpperCase();
  if (protocol !== 'TCP' && protocol !== 'TCPS') {
    throw new UrlDefect('descriptor', 'PROTOCOL in the descriptor is TCP or TCPS.');
  }
  const host = pairs.get('HOST') ?? '';
  const port = pairs.get('PORT');
  const bracketed = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return {
    ...parseHostPort(port === undefined ? bracketed : `${bracketed}:${port}`, DEFAULT_PORT),
    secure: protocol === 'TCPS',
  };
}

/** Nested `(KEY=value)` and `(KEY=(…)(…))`, with a limit on depth. */
class DescriptorReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The pairs of each ADDRESS; every other pair that is known goes to `found`. */
  addresses(found: Map<string, string>): Map<string, string>[] {
    const addresses: Map<string, string>[] = [];
    this.#list(found, addresses, 0);
    if (this.#at < this.#text.length) this.#fail();
    return addresses;
  }

  #list(pairs: Map<string, string>, addresses: Map<string, string>[], depth: number): void {
    if (depth > 8) this.#fail();
    this.#blanks();
    while (this.#text[this.#at] === '(') {
      this.#at += 1;
      const key = this.#word('=').toUpperCase();
      this.#blanks();
      if (this.#text[this.#at] === '(') this.#nested(key, pairs, addresses, depth);
      else this.#value(key, pairs);
      if (this.#text[this.#at] !== ')') this.#fail();
      this.#at += 1;
      this.#blanks();
    }
  }

  #nested(key: string, pairs: Map<string, string>, addresses: Map<string, string>[], depth: number): void {
    if (!LISTS.has(key)) this.#refuse(key);
    if (key === 'ADDRESS') {
      const own = new Map<string, string>();
      addresses.push(own);
      this.#list(own, addresses, depth + 1);
    } else if (key === 'FAILOVER_MODE') this.#list(new Map(), [], depth + 1);
    else this.#list(pairs, addresses, depth + 1);
  }

  #value(key: string, pairs: Map<string, string>): void {
    const value = this.#word(')', false)
      .trim()
      .replace(/^"(.*)"$/s, '$1');
    if (WITHOUT_EFFECT.has(key)) return;
    if (!['PROTOCOL', 'HOST', 'PORT', 'SERVICE_NAME', 'SID', 'SERVER', 'SSL_SERVER_CERT_DN'].includes(key))
      this.#refuse(key);
    if (pairs.has(key)) throw new UrlDefect('parameter_repeated', `The descriptor gives ${key} twice.`, { key });
    if (/[()\u0000-\u001f\u007f"\\]/.test(value)) this.#fail();
    pairs.set(key, value);
  }

  #word(end: string, takes = true): string {
    const to = this.#text.indexOf(end, this.#at);
    if (to < 0) this.#fail();
    const word = this.#text.slice(this.#at, to);
    this.#at = takes ? to + 1 : to;
    return takes ? word.trim() : word;
  }

  #blanks(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #refuse(key: string): never {
    const shown = /^[A-Z_]{1,40}$/.test(key) ? key : 'a key';
    throw new UrlDefect('property_refused', `${shown} cannot be set in a descriptor.`, { key: shown });
  }

  #fail(): never {
    throw new UrlDefect('descriptor', 'The descriptor is not a well-formed (DESCRIPTION=…).');
  }
}
