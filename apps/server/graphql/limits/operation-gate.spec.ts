import { describe, expect, it } from '@jest/globals';
import { buildSchema, getIntrospectionQuery, GraphQLObjectType, parse } from 'graphql';
import { formatError } from '../errors/error-format.js';
import { DocumentShapes } from './document-shape.js';
import { COST } from './operation-cost.js';
import { OperationGate, type OperationLimits, type Verdict } from './operation-gate.js';

const schema = buildSchema(`
  scalar JSON
  type PageInfo { hasNextPage: Boolean! }
  type Item { id: ID! name: String owner: Person items(first: Int, after: String, last: Int, before: String): ItemConnection document: JSON heavy: Int }
  type Person { id: ID! friend: Person }
  type ItemEdge { cursor: String! node: Item! }
  type ItemConnection { edges: [ItemEdge!]! nodes: [Item!]! pageInfo: PageInfo! totalCount: Int! }
  input Order { field: String }
  type Query { ordered(by: Order): Item item(id: ID, count: Int): Item items(first: Int, after: String, last: Int, before: String): ItemConnection }
  type Mutation { touch(id: ID): Item }
`);
const heavy = (schema.getType('Item') as GraphQLObjectType).getFields()['heavy'];
if (heavy) heavy.extensions = { [COST]: 20 };

const LIMITS: OperationLimits = {
  documentBytes: 65_536,
  tokens: 4000,
  depth: 10,
  aliases: 15,
  rootFields: 20,
  cost: 1000,
  pageMax: 200,
  introspection: true,
};

function judge(query: string, variables?: Record<string, unknown>, limits: Partial<OperationLimits> = {}): Verdict {
  return new OperationGate(schema, { ...LIMITS, ...limits }).judge({ query, variables });
}

function refusalOf(verdict: Verdict): { code: unknown; message: string; details: unknown } {
  if (!('refused' in verdict)) throw new TypeError('was admitted');
  const formatted = formatError(verdict.refused[0]!, { correlationId: 'c', baseUrl: '' });
  return {
    code: formatted.extensions?.['code'],
    message: formatted.message,
    details: formatted.extensions?.['details'],
  };
}

function costOf(query: string, variables?: Record<string, unknown>): number {
  const verdict = judge(query, variables);
  if ('refused' in verdict) throw new TypeError(verdict.refused[0]?.message);
  return verdict.cost;
}

/** Fragments that each spread the next one twice: 2^levels fields once they are expanded. */
function bomb(levels: number, inner: string): string {
  const fragments = Array.from({ length: levels }, (_, level) => {
    const next = level + 1 < levels ? `...F${level + 1} ...F${level + 1}` : inner;
    return `fragment F${level} on Item { ${next} }`;
  });
  return `{ item { ...F0 } } ${fragments.join('\n')}`;
}

describe('limits of operations', () => {
  it('refuses 3000 aliases, because each of them would run a resolver', () => {
    const query = `{ ${Array.from({ length: 3000 }, (_, i) => `a${i}:item{id}`).join(' ')} }`;
    expect(refusalOf(judge(query, undefined, { tokens: 100_000 })).code).toBe('graphql.too_many_aliases');
    expect(refusalOf(judge(query)).code).toBe('GRAPHQL_PARSE_FAILED');
  });

  it('counts aliases inside fragments as often as they are spread', () => {
    const fragment = 'fragment F on Item { a: id b: name }';
    expect('refused' in judge(`{ item { ...F ...F } } ${fragment}`)).toBe(false);
    const eight = Array.from({ length: 8 }, () => '...F').join(' ');
    expect(refusalOf(judge(`{ item { ${eight} } } ${fragment}`))).toMatchObject({
      code: 'graphql.too_many_aliases',
      details: { limit: 15, actual: 16 },
    });
  });

  it('measures a fragment bomb in the time of its text, and names the limit it breaks', () => {
    const verdict = refusalOf(judge(bomb(200, 'a: id')));
    expect(verdict).toMatchObject({
      code: 'graphql.too_many_aliases',
      details: { actual: Number.MAX_SAFE_INTEGER },
    });
    expect(refusalOf(judge(bomb(30, 'heavy')))).toMatchObject({ code: 'graphql.too_complex' });
  });

  it('leaves circles of fragments to validation instead of running into them', () => {
    const circle = '{ item { ...A } } fragment A on Item { ...B } fragment B on Item { ...A }';
    expect(refusalOf(judge(circle)).code).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(refusalOf(judge('{ item { ...A } } fragment A on Item { ...A }')).code).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  it('refuses a mesh of fragments in circles by name, where the comparison of their pairs would exhaust the stack', () => {
    const count = 150;
    const spreads = (from: number): string =>
      Array.from({ length: 7 }, (_, next) => `...F${(from + next + 1) % count}`).join(' ');
    const mesh = Array.from({ length: count }, (_, each) => `fragment F${each} on Item { ${spreads(each)} id }`);
    const { code, message } = refusalOf(judge(`{ item { ...F0 } } ${mesh.join(' ')}`));
    expect([code, message]).toEqual(['GRAPHQL_VALIDATION_FAILED', expect.stringContaining('within itself')]);
  });

  it.each<[string, string, number?]>([
    ['lists', `{ item(id: ${'['.repeat(1900)}1${']'.repeat(1900)}) { id } }`],
    ['objects', `{ item(id: ${'{a:'.repeat(900)}1${'}'.repeat(900)}) { id } }`],
    ['both in a default', `query($n: Int = ${'[{a:'.repeat(600)}1${'}]'.repeat(600)}) { item(count: $n) { id } }`],
    ['the type of a variable', `query($n: ${'['.repeat(1900)}Int${']'.repeat(1900)}) { item(count: $n) { id } }`],
    ['101 lists', `{ item(id: ${'['.repeat(101)}1${']'.repeat(101)}) { id } }`, 100],
    ['101 lists of a type', `query($n: ${'['.repeat(101)}Int${']'.repeat(101)}) { item(count: $n) { id } }`, 100],
  ])(
    'refuses %s in one another, which parser and validation would follow until the stack is gone',
    (_what, query, limit = 500) => {
      expect(refusalOf(judge(query))).toMatchObject({ code: 'graphql.too_deep', details: { limit } });
    },
  );

  it('leaves literals beside each other and 100 levels of them to validation', () => {
    const beside = `{ ${Array.from({ length: 15 }, (_, n) => `a${n}: item(id: ${'['.repeat(10)}1${']'.repeat(10)}) { id }`).join(' ')} }`;
    for (const query of [beside, `{ item(id: ${'['.repeat(100)}1${']'.repeat(100)}) { id } }`]) {
      expect(refusalOf(judge(query)).code).toBe('GRAPHQL_VALIDATION_FAILED');
    }
  });

  it('refuses what is nested too deeply, by fields or by fragments', () => {
    const deep = (levels: number): string =>
      `{ item { owner ${'{ friend '.repeat(levels)} { id } ${'}'.repeat(levels)} } }`;
    expect('refused' in judge(deep(7))).toBe(false);
    expect(refusalOf(judge(deep(8)))).toMatchObject({ code: 'graphql.too_deep', details: { limit: 10, actual: 11 } });
    const spread =
      '{ item { owner { ...A } } } fragment A on Person { friend { friend { friend { ...B } } } } fragment B on Person { friend { friend { friend { friend { friend { id } } } } } }';
    expect(refusalOf(judge(spread)).code).toBe('graphql.too_deep');
  });

  it('survives a document of nothing but nesting', () => {
    const nested = '{ item '.repeat(1300) + '}'.repeat(1300);
    expect(refusalOf(judge(nested)).code).toBe('graphql.too_deep');
  });

  it('counts root fields with fragments expanded, and allows fewer of mutations', () => {
    const spreads = `{ ${'...R '.repeat(11)} } fragment R on Query { item { id } items { nodes { id } } }`;
    expect(refusalOf(judge(spreads))).toMatchObject({ code: 'graphql.too_many_root_fields', details: { actual: 22 } });
    expect(refusalOf(judge(`mutation { ${'touch { id } '.repeat(11)} }`))).toMatchObject({
      code: 'graphql.too_many_root_fields',
      details: { limit: 10 },
    });
  });

  it('judges operations that were not asked for too, because validation reads them', () => {
    const gate = new OperationGate(schema, LIMITS);
    const query = `query Good { item { id } } query Bad { ${'item { id } '.repeat(21)} }`;
    expect(refusalOf(gate.judge({ query, operationName: 'Good' })).code).toBe('graphql.too_many_root_fields');
  });

  it('refuses a document over its bytes before it is read, counting bytes and not characters', () => {
    const query = `{ item { id } } # ${'é'.repeat(600)}`;
    expect(refusalOf(judge(query, undefined, { documentBytes: 1024 }))).toMatchObject({
      code: 'graphql.document_too_large',
      details: { limit: 1024 },
    });
  });

  it('bounds introspection by its own rule and not by depth', () => {
    expect('refused' in judge(getIntrospectionQuery())).toBe(false);
    expect('refused' in judge(getIntrospectionQuery(), undefined, { depth: 1 })).toBe(false);
    const nested =
      '{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }';
    expect(refusalOf(judge(nested)).code).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  it('refuses introspection where it is off, in fragments and with no hint at names', () => {
    const off = { introspection: false };
    expect(refusalOf(judge('{ __schema { queryType { name } } }', undefined, off)).code).toBe(
      'graphql.introspection_disabled',
    );
    const hidden = '{ ...Q } fragment Q on Query { x: __type(name: "Item") { name } }';
    expect(refusalOf(judge(hidden, undefined, off)).code).toBe('graphql.introspection_disabled');
    expect(refusalOf(judge('{ itemz { id } }')).message).toContain('Did you mean');
    expect(refusalOf(judge('{ itemz { id } }', undefined, off)).message).not.toContain('Did you mean');
    expect('refused' in judge('{ __typename item { __typename } }', undefined, off)).toBe(false);
  });
});

describe('cost of operations', () => {
  it('prices scalars, objects, documents and what a field declares', () => {
    expect(costOf('{ item { id name } }')).toBe(1);
    expect(costOf('{ item { owner { friend { id } } document heavy } }')).toBe(1 + 2 + 5 + 20);
  });

  it('multiplies what stands below a page by its size, and nothing else', () => {
    expect(costOf('{ items { totalCount pageInfo { hasNextPage } nodes { owner { id } } } }')).toBe(1 + 5 + 50);
    expect(costOf('{ items(first: 10) { edges { node { owner { id } } } } }')).toBe(1 + 10 * 2);
    expect(costOf('query($n: Int = 3) { items(last: $n) { nodes { document } } }')).toBe(1 + 15);
    expect(costOf('query($n: Int) { items(first: $n) { nodes { document } } }', { n: 0 })).toBe(1);
  });

  it('multiplies through fragments and nested pages', () => {
    const query = `{ items(first: 10) { ...Page } }
      fragment Page on ItemConnection { totalCount nodes { ...Row } }
      fragment Row on Item { owner { id } items(first: 4) { nodes { owner { id } } } }`;
    expect(costOf(query)).toBe(1 + 5 + 10 * (1 + 1 + 4));
  });

  it('refuses what costs too much and says what it costs', () => {
    expect(refusalOf(judge('{ items(first: 200) { nodes { items { nodes { owner { id } } } } } }'))).toMatchObject({
      code: 'graphql.too_complex',
      details: { requested: 1 + 200 * 51, max: 1000 },
    });
  });

  it('refuses pages that are no pages, wherever they stand and whoever filled them in', () => {
    for (const [args, variables] of [
      ['first: 1, last: 1', {}],
      ['first: -1', {}],
      ['first: 201', {}],
      ['before: "x"', {}],
      ['last: 2, after: "x"', {}],
      ['first: $n', { n: 100_000 }],
    ] as const) {
      const query = `query($n: Int) { item(count: $n) { items(${args}) { nodes { id } } } }`;
      expect(refusalOf(judge(query, variables)).code).toBe('graphql.pagination_invalid');
    }
  });

  it('refuses a flood of unknown members in few and short words: each would quote the whole of what was sent', () => {
    const order = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, 'x'.repeat(20)]));
    const verdict = judge('query($o: Order) { ordered(by: $o) { id } }', { o: order });
    const messages = 'refused' in verdict ? verdict.refused.map(({ message }) => message) : [];
    expect(messages).toHaveLength(6);
    expect(messages.join('').length).toBeLessThan(6100);
    expect(messages[5]).toMatch(/error limit reached/);
  });

  it('refuses variables of the wrong type before anything else looks at them', () => {
    expect(refusalOf(judge('query($n: Int) { items(first: $n) { nodes { id } } }', { n: 'many' })).code).toBe(
      'BAD_USER_INPUT',
    );
    expect(refusalOf(judge('query($n: Int!) { items(first: $n) { nodes { id } } }')).code).toBe('BAD_USER_INPUT');
  });
});

describe('which operation', () => {
  const gate = new OperationGate(schema, LIMITS);
  it('takes the only one or the named one, and never guesses', () => {
    const query = 'query A { item { id } } query B { item { name } }';
    const verdict = gate.judge({ query, operationName: 'B' });
    expect('operation' in verdict && verdict.operation.name?.value).toBe('B');
    expect(refusalOf(gate.judge({ query })).code).toBe('OPERATION_RESOLUTION_FAILURE');
    expect(refusalOf(gate.judge({ query, operationName: 'C' })).code).toBe('OPERATION_RESOLUTION_FAILURE');
  });

  it('answers a refused document from memory with the same errors', () => {
    const first = gate.judge({ query: '{ nope }' });
    expect(gate.judge({ query: '{ nope }' })).toBe(first);
  });
});

describe('DocumentShapes', () => {
  it('sees introspection through fragments', () => {
    const document = parse('{ ...Q } fragment Q on Query { ... on Query { __schema { types { name } } } }');
    const [operation] = document.definitions;
    if (operation?.kind !== 'OperationDefinition') throw new TypeError('no operation');
    expect(new DocumentShapes(document).of(operation)).toEqual({
      depth: 1,
      aliases: 0,
      rootFields: 1,
      introspects: true,
    });
  });
});
