import { describe, expect, it } from '@jest/globals';
import type { Request } from 'express';
import { z } from 'zod';
import { isPenstockError, readJson, type PenstockError } from '#libs/kernel';
import { jsonObject, parseInput, queryFlag, queryInteger, queryText, queryValues, wholeNumber } from './input.js'; // prettier-ignore
import { attachContext } from './request-context.js';

function asked(query: string): Request {
  const request = {} as Request;
  const path = { class: 'rest' as const, path: '/x', query };
  attachContext(request, { correlationId: 'c', path, sourceIp: '127.0.0.1', userAgent: undefined });
  return request;
}

function refused(work: () => unknown): PenstockError {
  try {
    work();
  } catch (error) {
    if (isPenstockError(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('bodies', () => {
  const schema = z.strictObject({
    name: z.string(),
    version: wholeNumber.optional(),
    tags: z.array(z.string()).optional(),
  });
  const read = (text: string) => parseInput(schema, readJson(text));

  it('keeps what the schema names', () => {
    expect(read('{"name": "a", "version": 3, "tags": ["x"]}')).toEqual({ name: 'a', version: 3, tags: ['x'] });
  });

  it.each([
    ['{}', 'name', 'field', '“name” is required.'],
    ['null', 'name', 'field', '“name” is required.'],
    ['[]', 'body', 'field', '“body” must be an object.'],
    ['"x"', 'body', 'field', '“body” must be an object.'],
    ['{"name": 1}', 'name', 'field', '“name” must be a text.'],
    ['{"name": null}', 'name', 'field', '“name” must be a text.'],
    ['{"name": "a", "version": "1"}', 'version', 'field', '“version” must be a whole number.'],
    ['{"name": "a", "version": 1.5}', 'version', 'field', '“version” must be a whole number.'],
    ['{"name": "a", "version": 9007199254740993}', 'version', 'field', '“version” must be a whole number.'],
    ['{"name": "a", "version": 1e3}', undefined, undefined, undefined],
    ['{"name": "a", "tags": "x"}', 'tags', 'field', '“tags” must be a list.'],
    ['{"name": "a", "tags": [1]}', 'tags.0', 'field', '“tags.0” must be a text.'],
    ['{"name": "a", "is_admin": true}', 'is_admin', 'unknown_field', 'There is no field “is_admin” here: it takes “name”, “version”, “tags”.'],
    ['{"name": "a", "__proto__": {"x": 1}}', '__proto__', 'unknown_field', 'There is no field “__proto__” here: it takes “name”, “version”, “tags”.'],
  ])('%s', (text, field, reason, message) => {
    if (field === undefined) return expect(read(text)).toMatchObject({ version: 1000 });
    const error = refused(() => read(text));
    expect([error.status, error.message, error.details['field'], error.details['reason']]).toEqual([400, message, field, reason]);
  }); // prettier-ignore

  it('lists the fields of the very object that holds an unknown one', () => {
    const nested = z.strictObject({ list: z.array(z.strictObject({ a: z.string(), b: z.string().optional() })).optional() });
    const { details } = refused(() => parseInput(nested, readJson('{"list": [{"a": "x", "c": 1}], "other": 1}')));
    expect((details['failures'] as { path: string; details: { allowed?: string[] } }[]).map(({ path, details: { allowed } }) => [path, allowed])).toEqual([
      ['list.0.c', ['a', 'b']],
      ['other', ['list']],
    ]);
  }); // prettier-ignore

  it('names every defect at once', () => {
    const { details } = refused(() => read('{"version": "x", "more": 1, "other": 2}'));
    expect((details['failures'] as { path: string }[]).map(({ path }) => path).sort()).toEqual(['more', 'name', 'other', 'version']);
  }); // prettier-ignore

  it('passes objects on as they came, and nothing else', () => {
    expect(parseInput(jsonObject, readJson('{"a": 1.10}'))).toMatchObject({ a: { value: '1.10' } });
    for (const text of ['[]', '1', '"a"', 'true']) expect(refused(() => parseInput(jsonObject, readJson(text))).status).toBe(400);
  }); // prettier-ignore
});

describe('queries', () => {
  it('decodes strictly, pluses included', () => {
    expect(queryText(asked('q=a+b%20c%C3%A4&r'), 'q')).toBe('a b cä');
    expect(queryText(asked('r'), 'r')).toBe('');
    expect(queryText(asked('%71=x'), 'q')).toBe('x');
    expect(queryText(asked(''), 'q')).toBeUndefined();
    expect(queryText(asked('q=a=b'), 'q')).toBe('a=b');
    expect(queryValues(asked('n=a&n=b'), 'n')).toEqual(['a', 'b']);
    for (const query of ['q=%', 'q=%ff', 'q=%00', 'q=%ed%a0%80']) {
      expect([query, refused(() => queryText(asked(query), 'q')).details]).toEqual([query, { field: 'q', reason: 'field' }]);
    }
    // What nobody asks for may hold anything (03 §2).
    expect(queryText(asked('junk=%ff&q=a'), 'q')).toBe('a');
    expect(refused(() => queryText(asked('q=a&q=a'), 'q')).details).toEqual({ field: 'q', reason: 'repeated' });
  }); // prettier-ignore

  it.each([['0', 0], ['-0', -0], ['-7', -7], ['007', 7], ['9'.repeat(40), Number.MAX_SAFE_INTEGER], [`-${'9'.repeat(400)}`, Number.MIN_SAFE_INTEGER]])(
    'reads the whole number %s',
    (text, expected) => expect(queryInteger(asked(`n=${text}`), 'n')).toBe(expected),
  ); // prettier-ignore

  it.each(['', ' ', '1.5', '1e3', '0x1', '+1', '--1', '1_000', '١'])('refuses the number %p', (text) => {
    const error = refused(() => queryInteger(asked(`n=${encodeURIComponent(text)}`), 'n'));
    expect(error.details).toEqual({ field: 'n', reason: 'field' });
  });

  it('reads flags: true, false, absent, bare', () => {
    expect([queryFlag(asked('f=true'), 'f'), queryFlag(asked('f'), 'f'), queryFlag(asked('f=false'), 'f'), queryFlag(asked(''), 'f')]).toEqual([true, true, false, false]);
    for (const word of ['1', 'yes', 'TRUE']) expect(refused(() => queryFlag(asked(`f=${word}`), 'f')).status).toBe(400);
  }); // prettier-ignore
});
