import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { readJson, writeJson, type JsonValue } from '#libs/kernel';
import { plain } from '../protocol/exact-json.js';
import { RpcError } from '../protocol/rpc-error.js';
import { readArguments } from './read-arguments.js';
import { DECLARATIONS } from './tool-catalogue.js';
import { inputSchema, type ToolDeclaration } from './tool.js';

const ajv = new Ajv({ strict: true, allowUnionTypes: true });

/** Values of every kind, as a client may send them. */
const anything = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('', 'x', 'POSTGRES', 'ASC', 'parquet', 'DATASOURCE', 'json', '2026-03-01T00:00:00Z') },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(0, 1, -1, 1.5, 501, 1e308, true, false, null) },
  { weight: 2, arbitrary: fc.constantFrom<unknown>([], {}, ['x'], [1], [{}], [{ column: 'a' }], [{ column: 1 }], { a: 1 }, [null]) },
  fc.jsonValue({ maxDepth: 3 }),
); // prettier-ignore

function sendable(value: unknown): JsonValue {
  return readJson(
    JSON.stringify(value)
      .replaceAll('\\u0000', '')
      .replace(/\\ud[89a-f][0-9a-f]{2}/gi, ''),
  );
}

function refusal(declaration: ToolDeclaration, value: JsonValue): RpcError | undefined {
  try {
    readArguments(declaration, value);
    return undefined;
  } catch (error) {
    if (error instanceof RpcError) return error;
    throw error;
  }
}

describe('arguments of every tool', () => {
  it.each(DECLARATIONS.map((declaration) => [declaration.name, declaration] as const))('%s: taken exactly when the published schema takes them, whatever is sent', (_name, declaration) => {
    const validate = ajv.compile(inputSchema(declaration));
    const names = Object.keys(declaration.arguments);
    const record = fc.dictionary(fc.constantFrom(...names, 'nope', 'constructor', '__proto__'), anything, { maxKeys: names.length + 1 });
    fc.assert(
      fc.property(fc.oneof(record, anything), (value) => {
        const sent = sendable(value);
        const error = refusal(declaration, sent);
        expect([writeJson(sent), error === undefined]).toEqual([writeJson(sent), validate(plain(sent))]);
        if (error) expect([error.code, error.message.includes(declaration.name)]).toEqual([-32602, true]);
      }),
      { numRuns: 150 },
    );
  }); // prettier-ignore

  it('keep the digits of numbers inside documents, and read whole numbers as numbers', () => {
    const update = DECLARATIONS.find(({ name }) => name === 'pipelines_update')!;
    const text =
      '{"id":"01900000-0000-7000-8000-000000000000","expected_hash":"h","name":"a/b","display_name":"b","nodes":[{"n":1.10,"big":9007199254740993}]}';
    const { nodes } = readArguments(update, readJson(text));
    expect(writeJson(nodes)).toBe('[{"n":1.10,"big":9007199254740993}]');
    const list = DECLARATIONS.find(({ name }) => name === 'pipelines_list')!;
    expect(readArguments(list, readJson('{"limit":1e2}'))).toEqual({ limit: 100 });
    expect(readArguments(list, readJson('{"limit":9007199254740993000}'))).toEqual({ limit: Number.MAX_SAFE_INTEGER });
    expect(refusal(list, readJson('{"limit":1e400}'))?.message).toContain('“limit” must be a whole number');
  });

  it('never echo more than a name, and no control characters', () => {
    const list = DECLARATIONS.find(({ name }) => name === 'pipelines_list')!;
    const error = refusal(list, sendable({ [`${'x'.repeat(5000)}`]: 1, ['a\u001b[31mb\u202e']: 1 }));
    expect(error?.message.length).toBeLessThan(600);
    expect(error?.message).not.toMatch(/[\p{Cc}\u202e]/u);
  });
});
