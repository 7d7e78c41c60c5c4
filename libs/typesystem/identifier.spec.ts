import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DIALECTS } from './canonical-type.js';
import { findInvalidStagedLabel, isContextKey, quoteIdentifier } from './identifier.js';
import { lexSql } from './sql/lex-sql.js';

describe('quoted identifiers', () => {
  it.each(DIALECTS)('are one token in %s whatever the name: nothing breaks out of generated DDL', (dialect) => {
    const closers = dialect === 'SQLITE' ? '"`\'-;' : '"`\'[]-;';
    const names = fc.string({ unit: fc.constantFrom(...closers, 'a', ' ', '\\', '$', '/', '*', 'é'), minLength: 1 });
    fc.assert(
      fc.property(names, (name) => {
        expect(lexSql(dialect, quoteIdentifier(dialect, name)).map(({ kind }) => kind)).toEqual(['quoted_identifier']);
      }),
    );
  });
});

describe('names', () => {
  it.each(['a', '_', 'a'.repeat(63), '__b1__'])('%s is a context key', (name) => expect(isContextKey(name)).toBe(true));
  it.each(['', 'A', '1a', 'a-b', 'a'.repeat(64), 'é', 'a\n', '__proto__ '])('%j is none', (name) =>
    expect(isContextKey(name)).toBe(false),
  );

  it.each<[string[], unknown]>([
    [['a', 'B', '_c1'], null],
    [['a', 'A'], { label: 'A', ordinal: 1 }],
    [['?column?'], { label: '?column?', ordinal: 0 }],
    [['a', ''], { label: '', ordinal: 1 }],
    [['count(*)'], { label: 'count(*)', ordinal: 0 }],
    [['a'.repeat(64)], { label: 'a'.repeat(64), ordinal: 0 }],
  ])('staged labels %j: %j', (labels, found) => expect(findInvalidStagedLabel(labels)).toEqual(found));
});
