import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#libs/kernel';
import { ExecutionsBench, type TestInstance } from '../executions.fixture.js';
import { childLineage, rootLineage, type Lineage } from '../family/lineage.js';
import { ExecutionInserts } from './execution-inserts.js';

let bench: ExecutionsBench;
let server: TestInstance;
let inserts: ExecutionInserts;

beforeAll(async () => {
  bench = await ExecutionsBench.create();
  server = await bench.serverWith();
  inserts = new ExecutionInserts(bench.db.database);
}, 60_000);

afterAll(() => bench.drop());

interface Run {
  executionId: string;
  lineage: Lineage;
}

/** The row of a run: a root, or called by the node `call` of another. */
async function ran(pipelineId: string, parent?: Run): Promise<Run> {
  const executionId = newId();
  const lineage = parent ? childLineage(parent, 'call') : rootLineage(executionId);
  await inserts.insert({
    executionId,
    pipelineId,
    pipelineVersion: 1,
    parametersJson: '{}',
    triggeredBy: bench.workspace.userId,
    triggeredVia: parent ? 'PIPELINE' : 'UI',
    correlationId: newId(),
    lineage,
    datasources: [],
  });
  await bench.db.database.execute(
    `UPDATE pipeline_executions SET status = 'SUCCESS', completed_at = NOW() WHERE execution_id = $1`,
    [executionId],
  );
  return { executionId, lineage };
}

const draft = () => bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS x' }], { draft: true });
const purge = (pipelineId: string) => bench.db.database.transaction((tx) => server.purge.purge(tx, pipelineId));

/** Parent, node and root of a run; undefined when its row is gone. */
async function standing({ executionId }: Run): Promise<unknown> {
  const [row] = await bench.db.database.query(
    `SELECT parent_execution_id AS parent, parent_node_id AS node, root_execution_id AS root
       FROM pipeline_executions WHERE execution_id = $1`,
    [executionId],
  );
  return row;
}

describe('the runs that a purged draft had called (contract 05 §10)', () => {
  it('stay: each child is the root of its own subtree, and a grandchild keeps its parent and follows to the new root', async () => {
    const [purged, other, third] = [await draft(), await draft(), await draft()];
    const root = await ran(purged);
    const [left, right] = [await ran(other, root), await ran(third, root)];
    const grandchild = await ran(third, left);
    const great = await ran(other, grandchild);
    expect(await standing(great)).toMatchObject({ root: root.executionId });
    expect(await purge(purged)).toBe(1);
    expect(await standing(root)).toBeUndefined();
    for (const child of [left, right]) {
      expect(await standing(child)).toEqual({ parent: null, node: null, root: child.executionId });
    }
    for (const [below, parent] of [
      [grandchild, left],
      [great, grandchild],
    ] as const) {
      expect(await standing(below)).toEqual({ parent: parent.executionId, node: 'call', root: left.executionId });
    }
  });

  it('stay apart when the purged draft stood in the middle: what is above keeps its root, what is below begins anew', async () => {
    const [purged, other] = [await draft(), await draft()];
    const root = await ran(other);
    const middle = await ran(purged, root);
    const below = await ran(other, middle);
    const sibling = await ran(other, root);
    expect(await purge(purged)).toBe(1);
    expect(await standing(middle)).toBeUndefined();
    expect(await standing(root)).toEqual({ parent: null, node: null, root: root.executionId });
    expect(await standing(sibling)).toEqual({ parent: root.executionId, node: 'call', root: root.executionId });
    expect(await standing(below)).toEqual({ parent: null, node: null, root: below.executionId });
  });

  it('of the purged draft itself go with it, and between two of them another one is a root', async () => {
    const [purged, other] = [await draft(), await draft()];
    const root = await ran(purged);
    const between = await ran(other, root);
    const again = await ran(purged, between);
    const last = await ran(other, again);
    expect(await purge(purged)).toBe(2);
    expect([await standing(root), await standing(again)]).toEqual([undefined, undefined]);
    for (const run of [between, last]) {
      expect(await standing(run)).toEqual({ parent: null, node: null, root: run.executionId });
    }
  });
});
