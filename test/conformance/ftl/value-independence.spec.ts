import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseTemplate, renderSql, renderText, type ParsedTemplate, type RenderInput } from '#libs/ftl';
import { bindStatement, DIALECTS, type Dialect } from '#libs/typesystem';
import { bool, date, decimal, int, text, value, type TestContext } from './rendering.js';
import { templateSources } from './template-sources.js';

/** Stands in every hostile text: it must never be seen in SQL, whatever happened to the text. */
const CANARY = 'zqxj';

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "'",
        "''",
        '"',
        ';',
        '--',
        '/*',
        '*/',
        '$$',
        '$t$',
        '\\',
        "\\'",
        ':x',
        ':s',
        '`',
        ']',
        ']]',
        '?',
        '$1',
        '@dp_1',
      ),
      fc.constantFrom(
        "' OR '1'='1",
        '\n',
        '\r',
        '#',
        "q'[",
        "E'",
        "]'",
        '${s}',
        '<#if x>',
        '\u0000',
        '\uE000',
        '\uE0000\uE001',
        '\uFEFF',
        '\u2028',
      ),
      fc.string({ maxLength: 12 }),
      fc.string({ unit: 'binary', maxLength: 6 }),
    ),
    { maxLength: 4 },
  )
  .map((parts) => `${parts.join('')}${CANARY}`);

interface Values {
  s: string;
  u: string;
  n: number;
  m: bigint;
  big: bigint;
  day: string;
}

const values: fc.Arbitrary<Values> = fc.record({
  s: hostile,
  u: hostile,
  n: fc.integer({ min: -1000, max: 1000 }),
  m: fc.bigInt({ min: -99999n, max: 99999n }),
  big: fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }),
  day: fc.constantFrom('2026-01-02', '1999-12-31', '2024-02-29'),
});

function contextOf({ s, u, n, m, big, day }: Values): TestContext {
  return {
    s: text(s),
    u: text(u),
    n: int(n),
    m: decimal(m, 2),
    big: value('BIGINTEGER', big),
    d: date(day),
    t: value('TIME', 52_200_000_000 + n),
    ts: value('TIMESTAMP', 1_767_348_000_000_000n + big / 1_000_000_000n),
    bytes: value('BINARY', new TextEncoder().encode(s)),
    f: bool(true),
  };
}

type Render = (template: ParsedTemplate, input: RenderInput) => { sql: string; types: string[] } | string;

/** The SQL and the types of its binds, or why it is refused. */
const product: Render = (template, input) => {
  const outcome = renderSql(template, input);
  if (!outcome.ok) return `${outcome.problem.kind} ${outcome.problem.reason ?? outcome.problem.guard ?? ''}`;
  return { sql: outcome.namedSql, types: outcome.binds.map(({ name, type }) => `${name} ${type.type}`) };
};

/** Whether a refusal depends on what the value is, not on where it stands: a text that is no date, one too long. */
const ofTheValue = (outcome: unknown): boolean =>
  typeof outcome === 'string' && /^(?:render_error|guard|position bind_in_literal|position not_allowed)/.test(outcome);

/** 01 §13: the SQL text is the same for any two sets of values that take the same branches. */
function independence(render: Render, runs: number, dialects: readonly Dialect[] = DIALECTS): string {
  const property = fc.property(
    templateSources,
    values,
    values,
    fc.constantFrom(...dialects),
    (source, one, two, dialect) => {
      const parsed = parseTemplate(source);
      if (!parsed.ok) return;
      const [a, b] = [one, two].map((set) => {
        const context = new Map(Object.entries(contextOf(set)));
        return render(parsed.template, { dialect, now: '2026-08-05T14:30:00Z', context });
      });
      for (const outcome of [a, b]) {
        const seen = typeof outcome === 'string' ? outcome : outcome!.sql;
        expect(seen.toLowerCase()).not.toContain(CANARY);
      }
      if (ofTheValue(a) || ofTheValue(b)) return;
      expect(withoutTypes(a)).toEqual(withoutTypes(b));
    },
  );
  const details = fc.check(property, { numRuns: runs, seed: 20_260_805, endOnFailure: true });
  return details.failed ? (fc.defaultReportMessage(details) ?? 'failed') : 'holds';
}

/** A number that outgrows its type is a BIGDECIMAL: the type follows the value, the text does not. */
function withoutTypes(outcome: ReturnType<Render> | undefined): unknown {
  if (outcome === undefined || typeof outcome === 'string') return outcome;
  const names = outcome.types.map((bind) => bind.replace(/ (?:INTEGER|BIGINTEGER|DECIMAL|BIGDECIMAL)$/, ' number'));
  return { sql: outcome.sql, names };
}

describe('the templates of the property', () => {
  it('parse, and most of them render', () => {
    const context = new Map(Object.entries(contextOf({ s: 's', u: 'u', n: 1, m: 2n, big: 3n, day: '2026-01-02' })));
    const input = { dialect: 'POSTGRES' as const, now: '2026-08-05T14:30:00Z', context };
    const outcomes = fc.sample(templateSources, { numRuns: 300, seed: 7 }).map((source) => {
      const parsed = parseTemplate(source);
      return parsed.ok ? renderSql(parsed.template, input).ok : `${source}: ${parsed.problems[0]!.message}`;
    });
    expect(outcomes.filter((outcome) => typeof outcome === 'string')).toEqual([]);
    expect(outcomes.filter((rendered) => rendered === true).length).toBeGreaterThan(100);
  });
});

describe('no path by which a run-time value becomes SQL text (contract 01 §13)', () => {
  it.each(DIALECTS)('%s: the SQL text is independent of the values', (dialect) => {
    expect(independence(product, 250, [dialect])).toBe('holds');
  });

  it.each(DIALECTS)('%s: so is the statement that is sent', (dialect) => {
    const sent: Render = (template, input) => {
      const outcome = renderSql(template, input);
      if (!outcome.ok) return product(template, input);
      const binds = new Map(outcome.binds.map(({ name, type, value: content }) => [name, { type, value: content }]));
      // The scale of an unbounded BIGDECIMAL is part of its cast, and a number may be too large for the dialect.
      if (outcome.binds.some(({ type }) => type.type === 'BIGDECIMAL')) return 'guard';
      return { sql: bindStatement(dialect, outcome.namedSql, binds).sql, types: [] };
    };
    const plainTypes: Render = (template, input) => {
      const outcome = sent(template, input);
      return typeof outcome === 'string'
        ? outcome
        : { ...outcome, sql: outcome.sql.replace(/int[48]|INTEGER|BIGINT/g, 'int') };
    };
    expect(independence(plainTypes, 80, [dialect])).toBe('holds');
  });
});

describe('the property can fail: an engine that lets a value through is caught', () => {
  const splicing = (part: (sql: string, context: RenderInput['context']) => string): Render => {
    return (template, input) => {
      const outcome = product(template, input);
      return typeof outcome === 'string' ? outcome : { ...outcome, sql: part(outcome.sql, input.context) };
    };
  };
  const contentOf = (context: RenderInput['context'], key: string): string => {
    const entry = context.get(key);
    return entry && 'value' in entry ? String(entry.value) : '';
  };
  const MUTANTS: [string, Render][] = [
    [
      'prints every value',
      (template, input) => {
        const outcome = renderText(template, input);
        return outcome.ok ? { sql: outcome.text, types: [] } : outcome.problem.kind;
      },
    ],
    [
      'splices one key, escaped',
      splicing((sql, context) => sql.replace(':u', `'${contentOf(context, 'u').replaceAll("'", "''")}'`)),
    ],
    ['splices a number only', splicing((sql, context) => sql.replace(/:n\b/, contentOf(context, 'n')))],
    [
      'lets a value decide a word',
      splicing((sql, context) => (contentOf(context, 's').includes("'") ? `${sql} ` : sql)),
    ],
    [
      'leaves the sign of a number to meet a minus',
      splicing((sql, context) => sql.replace(/- ?:n\b/, contentOf(context, 'n')[0] === '-' ? '--' : '-')),
    ],
  ];

  it.each(MUTANTS)('%s', (_what, mutant) => {
    expect(independence(mutant, 1500)).not.toBe('holds');
  });
});
