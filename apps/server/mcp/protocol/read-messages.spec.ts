import { describe, expect, it } from '@jest/globals';
import { RawJson, readJson, writeJson } from '#libs/kernel';
import { plain, writable } from './exact-json.js';
import { readMessages } from './read-messages.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A batch in which nothing is wrong but its length. */
const pings = (many: number): string =>
  `[${Array.from({ length: many }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`).join()}]`;

describe('messages', () => {
  it('come in batches of twenty at most', () => {
    expect(readMessages(bytes(pings(20))).count).toBe(20);
    expect(() => readMessages(bytes(pings(21)))).toThrow(/at most 20/);
  });

  it('keep arguments exact; the library gets none of them', () => {
    const call =
      '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"n":1.10},"_meta":{"progressToken":3}}}';
    const messages = readMessages(bytes(call));
    expect(messages.plain).toEqual({ jsonrpc: '2.0', id: 7, method: 'tools/call' });
    expect(writeJson(messages.exactParams.get(7))).toContain('{"n":1.10}');
    expect([messages.count, messages.wantsProgress('x'), messages.wantsProgress('y')]).toEqual([1, true, false]);
  });

  it('tell requests from notifications, and texts from numbers as ids', () => {
    const { exactParams, count } = readMessages(
      bytes(
        '[{"jsonrpc":"2.0","id":"1","method":"a"},{"jsonrpc":"2.0","id":1,"method":"b"},{"jsonrpc":"2.0","method":"c"},{"jsonrpc":"2.0","id":2,"result":{}}]',
      ),
    );
    expect([[...exactParams.keys()], count]).toEqual([['1', 1], 4]);
  });

  it.each([
    ['', -32700],
    ['{', -32700],
    ['{"a":1,"a":2}', -32700],
    ['"\\u0000"', -32700],
    ['[]', -32600],
    ['null', -32600],
    ['[[]]', -32600],
    [pings(21), -32600],
  ])('%s is %i', (text, code) => {
    expect(() => readMessages(bytes(text))).toThrow(expect.objectContaining({ code }));
  });

  it('bytes that are no UTF-8 are −32700', () => {
    expect(() => readMessages(Uint8Array.from([0x7b, 0xff, 0x7d]))).toThrow(expect.objectContaining({ code: -32700 }));
    expect(() => readMessages(undefined)).toThrow(expect.objectContaining({ code: -32700 }));
  });
});

describe('numbers', () => {
  it.each(['9007199254740993', '1.10', '-0', '1E+3', '0.1e-7', '12345678901234567890.123456789'])('%s leaves as it came, through the writer of the runtime', (token) => {
    const value = readJson(`{"a":[${token}],"b":{"c":${token}}}`);
    expect(JSON.stringify(writable(value))).toBe(`{"a":[${token}],"b":{"c":${token}}}`);
    expect(JSON.stringify(writable({ rows: [new RawJson(`[${token},"x",null]`)], big: 9007199254740993n, gone: undefined }))).toBe(
      `{"rows":[[${token},"x",null]],"big":9007199254740993}`,
    );
  }); // prettier-ignore

  it('a plain copy has no prototype to be reached through its keys', () => {
    const copy = plain(readJson('{"__proto__":{"polluted":1},"constructor":2}')) as Record<string, unknown>;
    expect([Object.getPrototypeOf(copy), Object.keys(copy)]).toEqual([null, ['__proto__', 'constructor']]);
    expect(JSON.stringify(writable(readJson('{"__proto__":{"polluted":1}}')))).toBe('{"__proto__":{"polluted":1}}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
