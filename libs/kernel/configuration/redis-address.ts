export interface RedisNode {
  host: string;
  port: number;
}

/** Sentinels, and the name under which they know the Redis that is in charge (contract 02 §8). */
export interface SentinelAddress {
  sentinels: readonly RedisNode[];
  master: string;
  database: number;
  tls: boolean;
  /** Of Redis itself. */
  username: string | undefined;
  password: string | undefined;
  /** Of the Sentinels, where they ask for one. */
  sentinelPassword: string | undefined;
}

export const SENTINEL_FORM =
  'redis-sentinel://[[user]:password@]host[:26379][,host…][/database][?sentinel-password=…]#name-of-the-master';

const SENTINEL_PORT = 26_379;
const URL_OF_SENTINELS = /^redis(s?)-sentinel:\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/(\d{1,5})?)?(?:\?([^#]*))?#(.+)$/;
const NODE = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i;

export function isSentinelUrl(text: string): boolean {
  return /^rediss?-sentinel:/.test(text);
}

/** Undefined for what does not have {@link SENTINEL_FORM}; with `rediss-sentinel` everything goes over TLS. */
export function sentinelAddress(text: string): SentinelAddress | undefined {
  const [, tls, credentials, hosts, database, query, master] = URL_OF_SENTINELS.exec(text) ?? [];
  if (hosts === undefined || master === undefined) return undefined;
  const sentinels = hosts.split(',').map(nodeOf);
  if (!sentinels.every((node) => node !== undefined)) return undefined;
  const options = new URLSearchParams(query);
  if ([...options.keys()].some((name) => name !== 'sentinel-password')) return undefined;
  const colon = credentials?.indexOf(':') ?? -1;
  const [username, password] =
    colon < 0 ? [undefined, credentials] : [credentials?.slice(0, colon), credentials?.slice(colon + 1)];
  try {
    return {
      sentinels,
      master: decodeURIComponent(master),
      database: Number(database ?? 0),
      tls: tls === 's',
      username: username ? decodeURIComponent(username) : undefined,
      password: password ? decodeURIComponent(password) : undefined,
      sentinelPassword: options.get('sentinel-password') ?? undefined,
    };
  } catch {
    // A percent sign that begins no escape.
    return undefined;
  }
}

function nodeOf(text: string): RedisNode | undefined {
  const [, literal, name, port = SENTINEL_PORT] = NODE.exec(text) ?? [];
  const host = literal ?? name;
  return host === undefined || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
}
