import { describe, expect, it } from '@jest/globals';

import { judgeWords } from './fact-words.js';

const table = (name: string, ...namespace: string[]) => ({ namespace, name });
const shop = {
  tables: [table('orders', 'sales'), table('order_lines', 'sales'), table('customers', 'crm')],
  alsoRight: new Set<string>(),
};
const judge = (fact: string, refs = [{ schema: 'sales', table: 'orders' }], more = {}) =>
  judgeWords(fact, refs, { ...shop, ...more });

describe('the words of a fact', () => {
  it('that name a table add it to the refs', () => {
    expect(judge('each row of order_lines belongs to orders')).toEqual({
      missing: [{ schema: 'sales', table: 'order_lines' }],
    });
    expect(judge('joins CUSTOMERS by id')).toEqual({ missing: [{ schema: 'crm', table: 'customers' }] });
  });

  it('that name a table twice, or one that is referred to, add nothing', () => {
    expect(judge('orders and orders again')).toEqual({ missing: [] });
  });

  it.each(['order_linse', 'ordr_lines', 'order_line', 'ordr_lins'])(
    'that nearly name a table are a mistake: %s',
    (token) => {
      expect(judge(`see ${token} for amounts`)).toEqual({ mismatch: { token, suggestion: 'order_lines' } });
    },
  );

  it('that are plain words, or far away, are no names', () => {
    expect(judge('order customer ordres liens')).toEqual({ missing: [] });
    // Three letters away; and three letters are too few for a name.
    expect(judge('see order_li for amounts')).toEqual({ missing: [] });
    expect(judge('see o_l for amounts', [], { tables: [table('o_li')] })).toEqual({ missing: [] });
    expect(judge('see order_history for amounts')).toEqual({ missing: [] });
  });

  it('that are columns or schemas of the refs are right as they are', () => {
    expect(judge('order_line counts from 1', undefined, { alsoRight: new Set(['order_line']) })).toEqual({
      missing: [],
    });
  });

  it('that several tables share mean the one beside the refs, and none where nothing decides', () => {
    const twice = { tables: [...shop.tables, table('customers', 'sales'), table('notes', 'a'), table('notes', 'b')] };
    expect(judge('of customers', undefined, twice)).toEqual({ missing: [{ schema: 'sales', table: 'customers' }] });
    expect(judge('of notes', undefined, twice)).toEqual({ missing: [] });
  });

  it('are judged in a moment even among two thousand tables with long like-named words', () => {
    const tables = Array.from({ length: 2000 }, (_, at) => table(`a_table_of_some_length_${at}`));
    const fact = Array.from({ length: 40 }, (_, at) => `zz_other_of_some_size_${at}`).join(' ');
    expect(judge(fact, [], { tables })).toEqual({ missing: [] });
  });
});
