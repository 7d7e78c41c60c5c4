import { describe, it, expect } from '@jest/globals';
import fc from 'fast-check';
import { runInNewContext } from 'node:vm';
import { ExactNumber } from '../json/value.js';
import { createLogger, type LoggerOptions } from './create-logger.js';
import { SilentLogger, type Logger } from './logger.js';
import { isSecretName } from './secret-names.js';
import { scrub } from './scrub.js';

function capture(options: Partial<LoggerOptions> = {}): {
  log: Logger;
  text: () => string;
  last: () => Record<string, unknown>;
} {
  const lines: string[] = [];
  const log = createLogger({
    level: 'debug',
    format: 'json',
    ...options,
    destination: { write: (line) => void lines.push(line) },
  });
  return {
    log,
    text: () => lines.join(''),
    last: () => JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>,
  };
}

describe('createLogger', () => {
  it('writes one JSON object a line with time, level, name, message and fields', () => {
    const { log, text, last } = capture();
    log.child('executions', { execution_id: 'e-1' }).info('Node finished', { node_id: 'n', duration_ms: 12 });
    expect(text()).toMatch(/^\{[^\n]*\}\n$/);
    expect(last()).toEqual({
      '@timestamp': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      level: 'info',
      logger: 'executions',
      message: 'Node finished',
      execution_id: 'e-1',
      node_id: 'n',
      duration_ms: 12,
    });
  });

  it('marks an event by its name, a sentence not', () => {
    const { log, last } = capture();
    log.warn('execution.fenced');
    expect(last()['event']).toBe('execution.fenced');
    log.warn('Pool rebuilt.');
    expect(last()['event']).toBeUndefined();
  });

  it('writes nothing below its level', () => {
    const { log, text } = capture({ level: 'warn' });
    log.debug('a');
    log.info('b');
    expect(text()).toBe('');
    log.error('c');
    expect(text()).not.toBe('');
  });

  it('keeps its own names to itself: a field cannot forge level, time, logger or message', () => {
    // Whoever names a field of a request must not be able to write a line of another kind.
    const { log, last } = capture();
    log.info('real', { level: 'error', message: 'forged', logger: 'x', '@timestamp': 'y' });
    expect(last()).toMatchObject({ level: 'info', message: 'real', logger: 'penstock', field_message: 'forged' });
  });

  it('writes one line whatever is in the message', () => {
    const { log, text } = capture();
    log.info('a\n{"level":"error","message":"forged"}\u2028');
    expect(text().trimEnd().split('\n')).toHaveLength(1);
  });

  it('writes errors with class, message, code, stack and causes, also those of another realm', () => {
    const { log, last } = capture();
    const cause = Object.assign(new TypeError('inner'), { code: 'ECONNREFUSED' });
    log.error('failed', { error: new Error('outer', { cause }) });
    expect(last()['error']).toMatchObject({
      class: 'Error',
      message: 'outer',
      stack: expect.stringContaining('logging.spec'),
      caused_by: { class: 'TypeError', message: 'inner', code: 'ECONNREFUSED' },
    });
    log.error('failed', { error: runInNewContext('new RangeError("elsewhere")') as unknown });
    expect(last()['error']).toMatchObject({ class: 'RangeError', message: 'elsewhere' });
  });

  it('bears any value: big, binary, circular, deep, throwing', () => {
    // A logger that throws turns a warning into a failed request.
    const { log, last } = capture();
    const circular: Record<string, unknown> = { name: 'c' };
    circular['self'] = circular;
    const endless = new Error('a');
    endless.cause = endless;
    log.info('x', {
      big: 2n ** 70n,
      exact: new ExactNumber('0.10'),
      bytes: Buffer.from('secret bytes'),
      circular,
      endless,
      date: new Date(0),
      broken: new Date(NaN),
      list: Array.from({ length: 5000 }, (_, index) => index),
      map: new Map([['k', new Set([1])]]),
      f: () => 1,
      get thrower(): never {
        throw new RangeError('getter');
      },
      wide: Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, index])),
    } as Record<string, unknown>);
    expect(last()).toMatchObject({
      big: '1180591620717411303424',
      exact: '0.10',
      bytes: '[12 bytes]',
      f: '[function]',
      map: { k: [1] },
    });
    expect(JSON.stringify(last()).length).toBeLessThan(50_000);
    expect(JSON.stringify(last())).not.toContain('secret bytes');
  });

  it('can write lines for reading, a stack below its line', () => {
    const { log, text } = capture({ format: 'text' });
    log.child('pool').warn('Slow', { duration_ms: 3, error: new Error('boo') });
    expect(text()).toMatch(
      /^\S+Z WARN {2}pool: Slow duration_ms=3 error=\{"class":"Error","message":"boo"\}\nError: boo\n {4}at /,
    );
  });

  it('has a silent form', () => {
    expect(new SilentLogger().child()).toBeInstanceOf(SilentLogger);
  });
});

describe('redaction', () => {
  it.each([
    'password',
    'db_password',
    'dbPassword',
    'secret',
    'jwt.secret',
    'api_key',
    'apiKey',
    'DP-API-Key',
    'DP-Promotion-Key',
    'deployment.promotion.server-key',
    'Authorization',
    'jdbc_url',
    'jdbcUrl',
    'encryption_key',
    'encryption-keys',
    'access_token',
    'token',
    'Set-Cookie',
    '__Host-dp_session',
  ])('takes %s for a secret name', (name) => expect(isSecretName(name)).toBe(true));

  it.each([
    'token_id',
    'api_key_id',
    'password_set',
    'tokenizer',
    'secretary',
    'cookiecutter',
    'key',
    'key_id',
    'author',
    'max_tokens',
    'passwordless',
  ])('lets %s pass', (name) => expect(isSecretName(name)).toBe(false));

  it('replaces planted secrets wherever they stand in a line', () => {
    const planted = 'hunter2PLANTED';
    const key = 'dpk_ABCDEFGH2345.ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEFGHIJKLMNOP';
    const { log, text } = capture();
    const driver = new Error(`connect to postgres://app:${planted}@db/x failed`, {
      cause: new Error(`password=${planted}`),
    });
    log.error(`login with password=${planted}`, {
      request: { headers: { authorization: `Bearer ${planted}`, cookie: `dp_session=${planted}`, 'DP-API-Key': key } },
      credential: { kind: 'password', username: 'app', secret: planted },
      list: [{ nested: { deep: { api_key: planted } } }, `token: "${planted}"`],
      map: new Map([['jdbc_url', `jdbc:postgresql://h/?password=${planted}`]]),
      [`password=${planted}`]: 1,
      error: driver,
      text: `called with ${key}`,
    });
    log.child('x', { token: planted }).warn(`url jdbc:postgresql://h/d?user=u&password=${planted}&ssl=true`);
    expect(text()).not.toContain(planted);
    expect(text()).not.toContain(key.slice(20));
    expect(text()).toContain('dpk_ABCDEFGH2345.***');
    expect(text()).toContain('&ssl=true');
  });

  it.each([
    ['postgres://u:p@h/d', 'postgres://***@h/d'],
    ['postgres://u:p@ss/w?rd#1@h/d ok', 'postgres://***@h/d ok'],
    ['rediss://:pw@h:6379/0', 'rediss://***@h:6379/0'],
    ['https://user:pw@host/p?q=a@b', 'https://***@host/p?q=a@b'],
    ['https://host/path?mail=a@b', 'https://host/path?mail=a@b'],
    ['jdbc:oracle:thin:scott/tiger@//h:1521/s', 'jdbc:oracle:thin:***@//h:1521/s'],
    ['jdbc:sqlserver://h;user=sa;password=x;encrypt=true', 'jdbc:sqlserver://h;user=sa;password=***;encrypt=true'],
    ['Server=h;Pwd=abc;', 'Server=h;Pwd=***;'],
    ['{"password":"a\\"b","x":1}', '{"password":"***","x":1}'],
    ["password='it s' next", "password='***' next"],
    ['{ secret: abc }', '{ secret: *** }'],
    ['Authorization: Basic dXNlcjpwdw==\nHost: h', 'Authorization: ***\nHost: h'],
    ['Cookie: a=1; dp_session=eyJ; b=2', 'Cookie: ***'],
    ['sent Bearer abcdef.ghi to h', 'sent Bearer *** to h'],
    ['jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_-1 end', 'jwt *** end'],
    ['dpk_ABC (no secret)', 'dpk_ABC (no secret)'],
    ['node a-b = 1, rows: 5, path=/x', 'node a-b = 1, rows: 5, path=/x'],
    ['token_id=7 api_key_id=dpk_A', 'token_id=7 api_key_id=dpk_A'],
  ])('scrubs %j', (text, scrubbed) => expect(scrub(text)).toBe(scrubbed));

  it('removes a secret of any form after a secret name', () => {
    const secretText = fc.stringMatching(/^[A-Za-z0-9!$%*+./:?@^_~#-]{6,40}$/);
    const name = fc.constantFrom('password', 'db_password', 'PASSWORD', 'api_key', 'token', 'secret');
    fc.assert(
      fc.property(name, fc.constantFrom('=', ': ', ' = ', '='), secretText, (key, sign, value) => {
        expect(scrub(`driver said ${key}${sign}${value} here`)).toBe(`driver said ${key}${sign}*** here`);
      }),
    );
  });

  it('is not slowed down by hostile text', () => {
    // The scrubber reads messages of foreign databases; quadratic matching would stop the process.
    const size = 1_000_000;
    for (const unit of [
      'a',
      'a=',
      'password',
      'password="',
      '://',
      'a://',
      'dpk_',
      'eyJ',
      'Bearer ',
      'cookie:',
      '"\\',
      'thin:',
      'postgres://a',
    ]) {
      expect(scrub(unit.repeat(size / unit.length)).length).toBeLessThan(100_000);
    }
  });
});
