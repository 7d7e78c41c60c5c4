import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawJson, writeJson } from '#libs/kernel';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/fixtures/postgres.js';
import { payloadText, storedPayloadText } from './payload-text.js';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
}, 60_000);

afterAll(() => db?.drop());

async function throughTable(texts: readonly string[]): Promise<string[]> {
  const rows = await db.database.query<{ stored: string }>(
    'SELECT t::jsonb::text AS stored FROM unnest($1::text[]) WITH ORDINALITY AS u(t, n) ORDER BY n',
    [texts],
  );
  return rows.map(({ stored }) => stored);
}

describe('the text of a payload', () => {
  it.each([
    ['{"b":1,"execution_id":"e","aa":2}', '{"execution_id":"e","aa":2,"b":1}'],
    [
      '{"n":[1e3,1.50,-0,-0.0,12.5e-3,1.0E2,0e9,9007199254740993]}',
      '{"n":[1000,1.50,0,0.0,0.0125,100,0,9007199254740993]}',
    ],
    ['{"10":1,"2":2,"__proto__":3}', '{"10":1,"2":2,"__proto__":3}'],
  ])('%s has one form', (given, text) => {
    expect(payloadText(new RawJson(given))).toBe(text);
  });

  it('survives JSONB, whatever is in it', async () => {
    const number = fc.oneof(
      fc.maxSafeInteger().map(String),
      fc.tuple(fc.integer(), fc.nat(99999), fc.integer({ min: -40, max: 40 })).map(([a, b, c]) => `${a}.${b}e${c}`),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    );
    const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\u0000', ''));
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, false),
        text,
        number.map((digits) => new RawJson(digits)),
        fc.array(tie('value'), { maxLength: 4 }),
        fc
          .uniqueArray(fc.tuple(fc.oneof(text, fc.constantFrom('status', 'node_id', 'message')), tie('value')), {
            maxLength: 5,
            selector: ([name]) => name,
          })
          .map((members) => new Map(members)),
      ),
    }));
    const payloads = fc.sample(value, 400).map((member) => payloadText(new Map([['parameters', member]])));
    const stored = await throughTable(payloads);
    expect(stored.map(storedPayloadText)).toEqual(payloads);
    expect(payloads.map((payload) => payloadText(new RawJson(payload)))).toEqual(payloads);
  });

  it('writes what the JSON writer would, members aside', () => {
    expect(payloadText({ a: 'é\n"', c: undefined, b: [null, true, 5] })).toBe(
      writeJson({ a: 'é\n"', b: [null, true, 5] }),
    );
  });
});
