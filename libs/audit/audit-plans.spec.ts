import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Queryable } from '#libs/persistence';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { auditPlace, AuditRepository, type AuditFilter } from './audit.repository.js';

/** Enough that reading them all costs more than any index, few enough to be made in a second. */
const ROWS = 60_000;
const RARE_WORKSPACE = '11111111-1111-4111-8111-111111111111';
const BUSY_WORKSPACE = '22222222-2222-4222-8222-222222222222';
const RARE_USER = '33333333-3333-4333-8333-333333333333';
const RARE_KEY = 'dpk_AAAAAAAAAAAA';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
  await db.database.execute(
    `INSERT INTO users (id, email, display_name, provider, provider_subject) VALUES ($1, 'a@x.org', 'a', 'local', 'a')`,
    [RARE_USER],
  );
  await db.database.execute(
    `INSERT INTO audit_log (event, timestamp, user_id, key_id, details_json)
     SELECT CASE n % 20000 WHEN 7 THEN 'workspace.member_added' ELSE 'endpoint.served' END,
            NOW() - n * INTERVAL '1 second', CASE n % 20000 WHEN 7 THEN $2::uuid END,
            CASE n % 20000 WHEN 7 THEN $3 ELSE 'dpk_' || (n % 3) END,
            jsonb_build_object('workspace_id', CASE n % 20000 WHEN 7 THEN $4 ELSE $5 END)
       FROM generate_series(1, $1::int) n`,
    [ROWS, RARE_USER, RARE_KEY, RARE_WORKSPACE, BUSY_WORKSPACE],
  );
  await db.database.execute('ANALYZE audit_log');
});
afterAll(() => db.drop());

interface PlanNode {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** How many rows of the table the page's own statement touched, and whether it read the table from end to end. */
async function cost(filter: AuditFilter, after?: string) {
  let plan: PlanNode | undefined;
  const explaining: Queryable = {
    execute: () => Promise.resolve(0),
    query: async <R>(sql: string, values?: readonly unknown[]) => {
      const [row] = await db.database.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
        values ?? [],
      );
      plan = (JSON.parse(row?.['QUERY PLAN'] ?? '[]') as { Plan: PlanNode }[])[0]?.Plan;
      return [] as R[];
    },
  };
  await new AuditRepository().page(explaining, filter, { first: 50, ...(after === undefined ? {} : { after }) });
  const nodes: PlanNode[] = [];
  for (const queue = plan ? [plan] : []; queue.length > 0;) {
    const node = queue.pop()!;
    nodes.push(node);
    queue.push(...(node.Plans ?? []));
  }
  const scans = nodes.filter((node) => node['Node Type'].includes('Scan'));
  const touched = scans.map(
    (node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
  );
  return { sequential: nodes.some((node) => node['Node Type'] === 'Seq Scan'), touched: Math.max(...touched) };
}

describe('a page of a long trail reads what it shows, by an index', () => {
  const deep = auditPlace({ timestamp: '2020-01-01T00:00:00Z', id: '1' });
  it.each<[string, AuditFilter, typeof deep | null]>([
    ['the instance', {}, null],
    ['the instance, behind its last row', {}, deep],
    ['a busy workspace', { workspaceId: BUSY_WORKSPACE }, null],
    ['a quiet workspace', { workspaceId: RARE_WORKSPACE }, null],
    ['a person', { userId: RARE_USER }, null],
    ['a key that did little', { keyId: RARE_KEY }, null],
    ['a rare event', { eventPrefix: 'workspace.' }, null],
    ['a frequent event', { eventPrefix: 'endpoint.' }, null],
    ['a rare event of a busy workspace', { workspaceId: BUSY_WORKSPACE, eventPrefix: 'workspace.' }, null],
    ['a stretch of time', { from: new Date(Date.now() - 60_000), to: new Date() }, null],
    ['a prefix that begins no name', { eventPrefix: '%' }, null],
  ])('%s', async (_name, filter, after) => {
    const { sequential, touched } = await cost(filter, after ?? undefined);
    expect(sequential).toBe(false);
    // The next rows of the same second are sorted with the page; a table's worth of rows is what must not be read.
    expect(touched).toBeLessThan(1000);
  });
});
