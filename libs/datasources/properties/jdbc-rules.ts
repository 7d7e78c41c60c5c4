import type { Failure } from '#libs/kernel';

import { matchesAny, SERVER_MANAGED } from './hikari.js';
import { nearest } from './nearest.js';

/** A driver's word on the JDBC properties it knows. */
export interface JdbcRules {
  /** Names that change the connection, each with its check: undefined = good, else what is wrong. */
  readonly mapped: Readonly<Record<string, (value: string) => string | undefined>>;
  /** Names of the original's driver that mean nothing here: stored, told back in `ignored_properties`. */
  readonly ignored: readonly string[];
  /** Refused in any case, in the URL too; `*` at either end is a wildcard. */
  readonly refused: readonly string[];
}

/** Refused on every dialect: what the server manages, and anything that would carry a secret (06 §4). */
const REFUSED_EVERYWHERE: readonly string[] = [
  ...SERVER_MANAGED,
  'user',
  '*password',
  '*passwd',
  '*pwd',
  '*secret',
  '*clientkey',
  'OAuthPvtKey',
  'OAuthAccessToken',
  'OAuthRefreshToken',
  'Auth_AccessToken',
  'apiKey',
  'privateKey',
];

const CREDENTIAL_KEYS: readonly string[] = ['user', 'username', 'password', '*password', '*passwd', '*pwd'];

/** What is wrong with one property, or undefined. `reason` is a word for `details.reason`. */
export function judgeProperty(
  rules: JdbcRules,
  key: string,
  value: string,
): { reason: string; message: string; suggestion?: string } | undefined {
  if (matchesAny(key, CREDENTIAL_KEYS)) {
    return { reason: 'credential_in_url', message: `${key} belongs into the datasource's credential.` };
  }
  if (matchesAny(key, REFUSED_EVERYWHERE) || matchesAny(key, rules.refused)) {
    return { reason: 'property_refused', message: `${key} cannot be set.` };
  }
  const check = Object.hasOwn(rules.mapped, key) ? rules.mapped[key] : undefined;
  if (check) {
    const defect = check(value);
    return defect === undefined ? undefined : { reason: 'property_value', message: `${key}: ${defect}` };
  }
  if (rules.ignored.includes(key)) return undefined;
  const suggestion = nearest(key, [...Object.keys(rules.mapped), ...rules.ignored], 3);
  return {
    reason: 'property_unknown',
    message: `${key} is no property of this driver.${suggestion ? ` Did you mean ${suggestion}?` : ''}`,
    ...(suggestion ? { suggestion } : {}),
  };
}

/** All defects of `properties.jdbc`, judged beside the URL's own parameters. */
export function checkJdbcProperties(
  rules: JdbcRules,
  properties: ReadonlyMap<string, unknown>,
  urlParameters: ReadonlyMap<string, string>,
): Failure[] {
  const failures: Failure[] = [];
  for (const [key, value] of properties) {
    const fail = (message: string, details: Record<string, unknown>): void =>
      void failures.push({
        code: 'datasource.validation.properties_invalid',
        path: `properties.jdbc.${key}`,
        message,
        details: { key, ...details },
      });
    if (typeof value !== 'string') {
      fail(`${key} must be text.`, { reason: 'property_value' });
      continue;
    }
    const defect = judgeProperty(rules, key, value);
    if (defect) {
      const reason = defect.reason === 'credential_in_url' ? 'property_refused' : defect.reason;
      fail(defect.message, { reason, ...(defect.suggestion ? { suggestion: defect.suggestion } : {}) });
    } else if (urlParameters.has(key)) {
      fail(`${key} stands in the URL and in properties.jdbc; keep one.`, { reason: 'given_twice' });
    }
  }
  return failures;
}

export const check = {
  any: (): undefined => undefined,
  oneOf:
    (...words: string[]) =>
    (value: string): string | undefined =>
      words.includes(value) ? undefined : `must be one of ${words.join(', ')}.`,
  boolean: (value: string): string | undefined => (/^(true|false)$/.test(value) ? undefined : 'must be true or false.'),
  seconds: (value: string): string | undefined =>
    /^\d{1,6}$/.test(value) ? undefined : 'must be a whole number of seconds, 0 to 999999.',
  milliseconds: (value: string): string | undefined =>
    /^\d{1,9}$/.test(value) ? undefined : 'must be a whole number of milliseconds.',
  text: (value: string): string | undefined =>
    value.length >= 1 && value.length <= 200 && !/[\u0000-\u001f\u007f]/.test(value)
      ? undefined
      : 'must be 1 to 200 printable characters.',
};
