import ipaddr from 'ipaddr.js';
import type { Parsed, TextForm } from './definition.js';
import { isSentinelUrl, SENTINEL_FORM, sentinelAddress } from './redis-address.js';

/** `https://host[:port]`: scheme, host and port of a server, nothing else. */
export const ORIGIN: TextForm = {
  accepts: 'origin such as `https://data.example.com`',
  parse: (text) => {
    const url = parseUrl(text);
    if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
      return { problem: 'must be an origin such as https://data.example.com' };
    }
    if (url.username || url.password || url.pathname !== '/' || url.search || url.hash || /[*]/.test(url.host)) {
      return { problem: 'must be scheme, host and port only: no wildcard, user, path or query' };
    }
    return { value: url.origin };
  },
};

export const HTTP_URL: TextForm = {
  accepts: 'URL such as `http://collector:4318/v1/traces`',
  parse: (text) => {
    const url = parseUrl(text);
    if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
      return { problem: 'must be a URL such as http://collector:4318/v1/traces' };
    }
    if (url.username || url.password || url.hash) return { problem: 'must carry neither user, password nor fragment' };
    return { value: url.href };
  },
};

/** A value that two deployments share; long enough that nobody finds it by trying. */
export const SHARED_KEY: TextForm = {
  accepts: 'text of 32 to 256 printable ASCII characters',
  parse: (text) =>
    /^[\x21-\x7e]{32,256}$/.test(text)
      ? { value: text }
      : { problem: 'must be 32 to 256 printable ASCII characters, such as `openssl rand -base64 32` prints' },
};

/** An address block; a bare address is a block of one. */
export const CIDR: TextForm = {
  accepts: 'CIDR block such as `10.0.0.0/8`',
  parse: (text) => {
    const valid = text.includes('/') ? ipaddr.isValidCIDR(text) : ipaddr.IPv6.isValid(text) || isDottedQuad(text);
    if (!valid) return { problem: 'must be a CIDR block such as 10.0.0.0/8' };
    return { value: text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}` };
  },
};

/** `ipaddr.js` also reads `010.1` and `0x7f.1`; an operator means none of these. */
function isDottedQuad(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text);
}

export const POSTGRES_URL: TextForm = {
  accepts: 'PostgreSQL URL',
  parse: (text) => {
    const plain = text.replace(/^jdbc:/, '');
    const url = parseUrl(plain);
    if (!url || !['postgres:', 'postgresql:'].includes(url.protocol) || !url.hostname) {
      return { problem: 'must have the form postgres://user:password@host:5432/database' };
    }
    return { value: plain };
  },
};

export const REDIS_URL: TextForm = {
  accepts: 'Redis URL',
  parse: (text) => {
    if (isSentinelUrl(text)) {
      return sentinelAddress(text) ? { value: text } : { problem: `must have the form ${SENTINEL_FORM}` };
    }
    const url = parseUrl(text);
    if (!url || !['redis:', 'rediss:'].includes(url.protocol) || !url.hostname) {
      return { problem: `must have the form redis://[:password@]host:6379[/database] or ${SENTINEL_FORM}` };
    }
    return { value: text };
  },
};

/** Base64 (either alphabet, padding optional) of a number of random bytes; the text itself is the value. */
export function base64Bytes(size: { exactly: number } | { atLeast: number }): TextForm {
  const wanted = 'exactly' in size ? `exactly ${size.exactly}` : `at least ${size.atLeast}`;
  const accepts = `base64 of ${wanted} bytes`;
  return {
    accepts,
    parse: (text): Parsed<string> => {
      const bytes = base64Length(text);
      const right = 'exactly' in size ? bytes === size.exactly : bytes >= size.atLeast;
      return right ? { value: text } : { problem: `must be ${accepts}` };
    },
  };
}

/** Bytes a base64 text stands for, -1 when it is none. */
function base64Length(text: string): number {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return -1;
  const digits = text.replace(/=+$/, '').length;
  if (digits % 4 === 1 || (text.includes('=') && text.length % 4 !== 0)) return -1;
  return Math.floor((digits * 3) / 4);
}

export const EMAIL: TextForm = {
  accepts: 'e-mail address',
  parse: (text) => {
    const value = text.trim().normalize('NFC').toLowerCase();
    if (value.length > 254 || !/^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u.test(value)) {
      return { problem: 'must be an e-mail address' };
    }
    return { value };
  },
};

/** Who a message is from: an address, or a name and an address in angle brackets. One line, so that it can be a header. */
export const MAILBOX: TextForm = {
  accepts: 'mailbox such as `Penstock <penstock@example.com>`',
  parse: (text) => {
    const value = text.trim();
    const named = /^([^<>\p{Cc}]*)<([^<>]*)>$/u.exec(value);
    const parsed = EMAIL.parse(named?.[2] ?? value);
    if ('problem' in parsed || value.length > 320) {
      return { problem: 'must be an address, or Name <address>, on one line' };
    }
    return { value: named ? `${named[1]?.trim()} <${parsed.value}>`.trim() : parsed.value };
  },
};

/** A host without scheme and port. */
export const HOST_NAME: TextForm = {
  accepts: 'host name or address',
  parse: (value) =>
    value.length <= 253 && (/^[A-Za-z0-9_.-]+$/.test(value) || ipaddr.IPv6.isValid(value))
      ? { value }
      : { problem: 'must be a host name or an address, without scheme and port' },
};

/** A value of a message header of our own. */
export const HEADER_WORD: TextForm = {
  accepts: 'word of letters, digits, `-`, `_` and `.`',
  parse: (value) =>
    /^[A-Za-z0-9._-]{1,100}$/.test(value) ? { value } : { problem: 'must be a word of letters, digits, -, _ and .' },
};

/** The part of an address behind `@`, compared exactly: a subdomain is another domain. */
export const DOMAIN: TextForm = {
  accepts: 'domain such as `example.com`',
  parse: (text) => {
    const value = text.normalize('NFC').toLowerCase();
    return value.length <= 253 && /^[^@\s*\p{Cc}.][^@\s*\p{Cc}]*$/u.test(value)
      ? { value }
      : { problem: 'must be a domain such as example.com, without @ or wildcard' };
  },
};

export const ARGON2_HASH: TextForm = {
  accepts: 'Argon2id hash',
  parse: (value) =>
    value.startsWith('$argon2id$') ? { value } : { problem: 'must be an Argon2id hash ($argon2id$…)' },
};

export const ABSOLUTE_PATH: TextForm = {
  accepts: 'absolute path',
  parse: (value) => (value.startsWith('/') ? { value } : { problem: 'must be an absolute path' }),
};

export const TIME_ZONE: TextForm = {
  accepts: 'IANA time zone',
  parse: (value) => {
    try {
      new Intl.DateTimeFormat('en', { timeZone: value });
    } catch (cause) {
      if (cause instanceof RangeError) return { problem: 'must be an IANA time zone such as Europe/Berlin' };
      throw cause;
    }
    return { value };
  },
};

/** A day that some year has. 29 February is one: in other years it means the 28th (contract 01 §7.3). */
export const MONTH_DAY: TextForm = {
  accepts: 'month and day, `MM-DD`',
  parse: (value) => {
    const match = /^(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/.exec(value);
    const days = match ? new Date(Date.UTC(2024, Number(match[1]), 0)).getUTCDate() : 0;
    return match && Number(match[2]) <= days
      ? { value }
      : { problem: 'must be a day of the year as MM-DD, such as 04-01' };
  },
};

export const DEPLOYMENT_NAME: TextForm = {
  accepts: 'lower-case letters, digits, `_` and `-`, at most 32',
  parse: (value) =>
    /^[a-z0-9][a-z0-9_-]{0,31}$/.test(value)
      ? { value }
      : { problem: 'must be lower-case letters, digits, "_" and "-", at most 32' },
};

export const SCOPE: TextForm = {
  accepts: '`read`, `execute` or `author`',
  parse: (value) =>
    ['read', 'execute', 'author'].includes(value) ? { value } : { problem: 'must be read, execute or author' },
};

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
