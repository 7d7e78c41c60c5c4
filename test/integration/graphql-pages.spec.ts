import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, ApiClient } from '../fixtures/api-client.js';
import { eventually } from '../fixtures/eventually.js';
import { ask, codesOf, data } from '../fixtures/graphql.js';
import { startGraphqlServer } from '../fixtures/graphql-server.js';
import type { LocalServer } from '../fixtures/local-server.js';

interface Run {
  status: string;
  result: { rows: unknown[][]; totalRows: unknown } | null;
  events: { totalCount: unknown; nodes: { type: string; eventId: unknown }[] };
}

let server: LocalServer;
let admin: ApiClient;

beforeAll(async () => {
  ({ server, admin } = await startGraphqlServer());
}, 90_000);

afterAll(async () => {
  await server?.stop();
});

/** Runs it to its end. */
async function ended(pipeline: string): Promise<void> {
  const { executePipeline } = await data(
    admin,
    `mutation { executePipeline(input: { id: "${pipeline}" }) { execution { id } } }`,
  );
  const { id } = executePipeline.execution as { id: string };
  await eventually('the run ends', async () => {
    const { execution } = await data(admin, `{ execution(id: "${id}") { status } }`);
    return execution.status === 'SUCCESS' || undefined;
  });
}

describe('pages', () => {
  const PARENTS = 50;
  const ALL = `{ pipelines(first: ${PARENTS}, filter: { q: "many/" }) { totalCount pageInfo { hasNextPage } nodes {
    name owner { displayName } working { number createdBy { displayName } } current { number }
    lastExecution { status } endpoints { path } versions(first: 2) { nodes { number pinnedTemplates { id } } } executions(first: 3) { totalCount nodes { id } } } } }`;

  beforeAll(async () => {
    const [workspace] = await server.test.database.query<{ id: string }>(
      `SELECT id FROM workspaces WHERE name = 'default'`,
    );
    await server.test.database.execute(
      `WITH owner AS (SELECT id FROM users ORDER BY created_at LIMIT 1),
            p AS (INSERT INTO pipelines (workspace_id, name, display_name, description, owner_id, current_version)
                  SELECT $1, 'many/p' || lpad(i::text, 3, '0'), 'P', '', owner.id, 1 FROM generate_series(1, $2::int) i, owner
                  RETURNING id, owner_id)
       INSERT INTO pipeline_versions (pipeline_id, version, body_json, status, body_hash, created_via, updated_via, created_by, released_at, released_by)
       SELECT p.id, 1, '{"nodes": [{"id": "n", "type": "DQL", "template": {"id": "shop/notes.sql", "version": 1}}]}', 'RELEASED', 'h', 'session', 'session', p.owner_id, NOW(), p.owner_id FROM p`,
      [workspace?.id, PARENTS + 3],
    );
  });

  it('cost the same number of statements for one parent and for fifty', async () => {
    const one = ALL.replace(`first: ${PARENTS}`, 'first: 1');
    await data(admin, one);
    const few = await server.statementsOf(() => data(admin, one));
    const many = await server.statementsOf(() => data(admin, ALL));
    expect(many.length).toBe(few.length);
    // Owner, working and current, last execution, endpoints, versions, bodies, templates, executions, their count.
    expect(many.length).toBeLessThanOrEqual(3 + 9);
  });

  it('count the versions of many parents in one statement', async () => {
    const query = (first: number): string =>
      `{ pipelines(first: ${first}) { nodes { versions(first: 0) { totalCount } } } templates(first: ${first}) { nodes { versions(first: 0) { totalCount } } } }`;
    const counted = await data(admin, query(3));
    for (const { versions } of [...counted.pipelines.nodes, ...counted.templates.nodes]) {
      expect(Number(versions.totalCount)).toBeGreaterThan(0);
    }
    const few = await server.statementsOf(() => data(admin, query(1)));
    const many = await server.statementsOf(() => data(admin, query(20)));
    expect(many.length).toBe(few.length);
  });

  it('read the owners of many datasources in one statement, and leave no trace of visits nobody made', async () => {
    const names = ['own-a', 'own-b', 'own-c'];
    for (const name of names) {
      await data(admin, `mutation { createWorkspace(input: { name: "${name}" }) { workspace { id } } }`);
      await admin.data('POST', '/api/v1/datasources', {
        name,
        display_name: name,
        dialect: 'POSTGRES',
        jdbc_url: 'jdbc:postgresql://127.0.0.1:9/x',
        credential: { kind: 'password', username: 'u', secret: 'planted' },
        workspace: name,
      });
      await admin.data('POST', `/api/v1/datasources/${name}/grants/default`);
    }
    const query = (first: number): string =>
      `{ datasources(first: ${first}) { nodes { name ownerWorkspace { name } } } }`;
    const { datasources } = await data(admin, query(50));
    const owned = datasources.nodes.filter(({ name }: { name: string }) => names.includes(name));
    expect(owned.map(({ ownerWorkspace }: { ownerWorkspace: { name: string } }) => ownerWorkspace.name)).toEqual(names);
    const few = await server.statementsOf(() => data(admin, query(1)));
    const many = await server.statementsOf(() => data(admin, query(50)));
    expect(many.length).toBe(few.length);
  });

  it('walk a list forwards and backwards without a gap or a repeat, whatever is inserted meanwhile', async () => {
    const page =
      'query($first: Int, $after: String, $last: Int, $before: String) { pipelines(first: $first, after: $after, last: $last, before: $before, filter: { q: "many/" }) { pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { name } } }';
    const names: string[] = [];
    let after: string | null = null;
    do {
      const { pipelines } = await data(admin, page, { first: 20, after });
      names.push(...pipelines.nodes.map(({ name }: { name: string }) => name));
      after = pipelines.pageInfo.hasNextPage ? pipelines.pageInfo.endCursor : null;
      if (names.length === 20) {
        await server.test.database.execute(
          `INSERT INTO pipelines (workspace_id, name, display_name, description, owner_id) SELECT workspace_id, 'many/a', 'P', '', owner_id FROM pipelines WHERE name = 'many/p001'`,
        );
      }
    } while (after !== null);
    expect(names).toEqual(
      Array.from({ length: PARENTS + 3 }, (_, index) => `many/p${String(index + 1).padStart(3, '0')}`),
    );
    const back = await data(admin, page, { last: 2 });
    expect(back.pipelines.nodes.map(({ name }: { name: string }) => name)).toEqual(['many/p052', 'many/p053']);
    expect(back.pipelines.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const before = await data(admin, page, { last: 2, before: back.pipelines.pageInfo.startCursor });
    expect(before.pipelines.nodes.map(({ name }: { name: string }) => name)).toEqual(['many/p050', 'many/p051']);
    expect((await data(admin, page, { first: 0 })).pipelines.nodes).toEqual([]);
  });

  it.each(['CREATED_AT', 'UPDATED_AT', 'NAME'])(
    'keep an order over pages in both directions, equal stamps by name: %s',
    async (field) => {
      await server.test.database.execute(
        `UPDATE pipelines SET updated_at = TIMESTAMPTZ '2026-01-01Z' + right(name, 1)::int * INTERVAL '1 microsecond' WHERE name LIKE 'many/p%'`,
      );
      const query = (direction: string): string =>
        `query($first: Int, $after: String, $last: Int, $before: String) { pipelines(first: $first, after: $after, last: $last, before: $before, filter: { q: "many/p" }, orderBy: { field: ${field}, direction: ${direction} }) { pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { name } } }`;
      const walk = async (direction: string): Promise<string[]> => {
        const names: string[] = [];
        let after: string | null = null;
        do {
          const { pipelines } = await data(admin, query(direction), { first: 20, after });
          names.push(...pipelines.nodes.map(({ name }: { name: string }) => name));
          after = pipelines.pageInfo.hasNextPage ? pipelines.pageInfo.endCursor : null;
        } while (after !== null);
        return names;
      };
      const key = (name: string): string => (field === 'UPDATED_AT' ? `${name.at(-1)}${name}` : name);
      const ascending = Array.from({ length: PARENTS + 3 }, (_, at) => `many/p${String(at + 1).padStart(3, '0')}`).sort(
        (a, b) => (key(a) < key(b) ? -1 : 1),
      );
      expect(await walk('ASC')).toEqual(ascending);
      expect(await walk('DESC')).toEqual(ascending.toReversed());
      const end = (await data(admin, query('DESC'), { last: 2 })).pipelines;
      expect(end.nodes.map(({ name }: { name: string }) => name)).toEqual(ascending.slice(0, 2).reverse());
      const before = (await data(admin, query('DESC'), { last: 2, before: end.pageInfo.startCursor })).pipelines;
      expect(before.nodes.map(({ name }: { name: string }) => name)).toEqual(ascending.slice(2, 4).reverse());
      expect(codesOf(await ask(admin, query('ASC'), { first: 2, after: end.pageInfo.startCursor }))).toEqual([
        'graphql.cursor_invalid',
      ]);
    },
  );

  it('refuse a cursor of another filter', async () => {
    const { pipelines } = await data(admin, '{ pipelines(first: 1) { pageInfo { endCursor } } }');
    const answer = await ask(
      admin,
      'query($c: String) { pipelines(first: 1, after: $c, filter: { q: "many" }) { nodes { id } } }',
      { c: pipelines.pageInfo.endCursor },
    );
    expect(codesOf(answer)).toEqual(['graphql.cursor_invalid']);
  });

  it('show one level of the tree of names', async () => {
    const { pipelineTree } = await data(
      admin,
      '{ pipelineTree(prefix: "") { folders { path count } pipelines { totalCount } } }',
    );
    expect(pipelineTree.folders.map(({ path }: { path: string }) => path)).toEqual(['many']);
    expect(
      (await data(admin, '{ pipelineTree(prefix: "many", first: 2) { pipelines { totalCount nodes { name } } } }'))
        .pipelineTree.pipelines.nodes,
    ).toEqual([{ name: 'many/p001' }, { name: 'many/p002' }]);
  });

  it('read events and results of many runs in as many statements as of one, each with its own rows or its own refusal', async () => {
    await data(
      admin,
      'mutation { createTemplate(input: { name: "many/one.sql", dialect: DUCKDB, body: "SELECT 41 + 1 AS n", displayName: "One", description: "" }) { template { name } } }',
    );
    const definition = JSON.stringify({
      name: 'many/runs',
      display_name: 'Runs',
      description: '',
      parameters: {},
      nodes: [
        {
          id: 'n',
          type: 'DQL',
          source: 'tempdb',
          template: { id: 'many/one.sql', version: 1 },
          output: { target: 'caller' },
        },
      ],
    });
    const made = await data(
      admin,
      'mutation($json: JsonText!) { createPipeline(input: { definitionJson: $json }) { pipeline { id } } }',
      { json: definition },
    );
    const { id } = made.createPipeline.pipeline as { id: string };
    for (let run = 0; run < 6; run++) await ended(id);
    await server.test.database.execute(
      `UPDATE pipeline_executions SET status = 'FAILED' WHERE execution_id = (
         SELECT execution_id FROM pipeline_executions WHERE pipeline_id = $1 ORDER BY started_at LIMIT 1)`,
      [id],
    );
    const query = (first: number): string =>
      `{ executions(first: ${first}, filter: { pipelineId: "${id}" }) { nodes { id status result { rows totalRows } events(first: 2) { totalCount nodes { type eventId } } } } }`;
    await ask(admin, query(1));
    const few = await server.statementsOf(() => ask(admin, query(1)));
    let answer: Answer | undefined;
    const many = await server.statementsOf(async () => (answer = await ask(admin, query(6))));
    expect(many.length).toBe(few.length);
    expect(codesOf(answer!)).toEqual(['result.execution_failed']);
    const nodes = answer!.body.data.executions.nodes as Run[];
    expect(nodes.map(({ status }) => status)).toEqual([...Array<string>(5).fill('SUCCESS'), 'FAILED']);
    for (const { status, result, events } of nodes) {
      expect(result).toEqual(
        status === 'SUCCESS' ? { rows: [[expect.anything()]], totalRows: expect.anything() } : null,
      );
      expect(events.nodes.map(({ type, eventId }) => [type, Number(eventId)])).toEqual([
        ['execution_started', 1],
        ['node_started', 2],
      ]);
      expect(Number(events.totalCount)).toBeGreaterThan(4);
    }
  });
});

it('logs no error of its own in all of this', () => {
  expect(server.errors).toEqual([]);
});

describe('what an operation costs', () => {
  /** What one operation took from the budget of the minute, and its cost. */
  async function spent(query: string): Promise<{ cost: number; charge: number }> {
    for (;;) {
      const before = await ask(admin, '{ viewer { authMethod } }');
      const answer = await ask(admin, query);
      // Another minute has a budget of its own.
      if (before.headers.get('RateLimit-Reset') !== answer.headers.get('RateLimit-Reset')) continue;
      const [left, leaves] = [before, answer].map(({ headers }) => Number(headers.get('RateLimit-Remaining')));
      return { cost: Number(answer.body.extensions.cost.requested), charge: left! - leaves! };
    }
  }

  it('is charged to its caller as so many requests, one per hundred begun, or one dear query were as cheap as none', async () => {
    const charged = [
      await spent('{ viewer { authMethod } }'),
      await spent('{ pipelines(first: 99) { nodes { id } } }'),
      await spent('{ pipelines(first: 100) { nodes { id } } }'),
      await spent('{ pipelines(first: 100) { totalCount nodes { id owner { id } } } }'),
      await spent('{ pipelines(first: 200) { nodes { id owner { id } working { number } current { number } } } }'),
    ];
    expect(charged.map(({ charge }) => charge)).toEqual(charged.map(({ cost }) => Math.max(1, Math.ceil(cost / 100))));
    const charges = charged.map(({ charge }) => charge);
    expect([charges[0], charges.at(-1)! > 5, new Set(charges).size > 2]).toEqual([1, true, true]);
  });
});
