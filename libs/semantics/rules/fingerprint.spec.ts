import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';

import { digestIn, fingerprint, tableDigest, type TypedColumn } from './fingerprint.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const columns: TypedColumn[] = [
  { name: 'total', type: { type: 'DECIMAL', precision: 12, scale: 2 } },
  { name: 'id', type: { type: 'BIGINTEGER' } },
  { name: 'rate', type: { type: 'DECIMAL', precision: 15 } },
];

describe('the fingerprint of a fact', () => {
  it('is one digest a table over sorted lines of name, tab and type', () => {
    expect(tableDigest(columns)).toBe(sha256('id\tBIGINTEGER\nrate\tDECIMAL(15)\ntotal\tDECIMAL(12,2)'));
    expect(tableDigest(columns.toReversed())).toBe(tableDigest(columns));
  });

  it('joins tables in one order, each once, and is empty without refs', () => {
    const [a, b] = [{ schema: 's', table: 'b' }, { table: 'a' }];
    const text = fingerprint([
      { ref: a, columns },
      { ref: b, columns: [] },
      { ref: { ...a, ...{ column: 'id' } }, columns },
    ]);
    expect(text).toBe(`a=${sha256('')};s.b=${tableDigest(columns)}`);
    expect(fingerprint([])).toBe('');
  });

  it('finds a table’s digest again, whatever the tables are called', () => {
    const names = ['a', 'a=b', 'x;y', `=${'0'.repeat(64)};`, 'mit leer zeichen', 'zeile\n2'];
    const text = fingerprint(
      names.map((table) => ({ ref: { table }, columns: [{ name: table, type: { type: 'STRING' as const } }] })),
    );
    for (const table of names.filter((name) => !name.includes('0'.repeat(64)))) {
      expect([table, digestIn(text, table)]).toEqual([table, sha256(`${table}\tSTRING`)]);
    }
    expect(digestIn(text, 'b')).toBeUndefined();
    expect(digestIn('', 'a')).toBeUndefined();
  });
});
