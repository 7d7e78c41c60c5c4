import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditEntry } from '#libs/audit';
import { newId } from '#libs/kernel';
import { ExecutionsBench } from '../executions.fixture.js';
import { rootLineage } from '../family/lineage.js';
import { ExecutionInserts, type NewExecution } from './execution-inserts.js';
import { TerminalWrites, type TerminalRecord } from './terminal-writes.js';

let bench: ExecutionsBench;
let pipelineId: string;
let inserts: ExecutionInserts;

beforeAll(async () => {
  bench = await ExecutionsBench.create();
  pipelineId = await bench.workspace.pipeline([{ id: 'a', sql: 'SELECT 1 AS x' }]);
  inserts = new ExecutionInserts(bench.db.database);
});

afterAll(() => bench.drop());

const trailOf = (executionId: string, keyId = 'key') => ({
  started: auditEntry({ userId: bench.workspace.userId, keyId, correlationId: 'c' }, 'endpoint.served', {
    endpoint_id: 'e',
    execution_id: executionId,
    outcome: 'started',
  }),
  ended: () => undefined,
});

function launch(change: Partial<NewExecution> = {}): NewExecution {
  const executionId = newId();
  return {
    executionId,
    pipelineId,
    pipelineVersion: 1,
    parametersJson: '{}',
    triggeredBy: bench.workspace.userId,
    triggeredVia: 'ENDPOINT',
    correlationId: newId(),
    lineage: rootLineage(executionId),
    datasources: [],
    trail: trailOf(executionId),
    ...change,
  };
}

const rows = (id: string) =>
  bench.db.database.query<{ status: string }>('SELECT status FROM pipeline_executions WHERE execution_id = $1', [id]);
const trail = async (id: string): Promise<string[]> => {
  const found = await bench.db.database.query<{ outcome: string }>(
    `SELECT details_json->>'outcome' AS outcome FROM audit_log WHERE details_json->>'execution_id' = $1 ORDER BY id`,
    [id],
  );
  return found.map(({ outcome }) => outcome);
};

const movePointer = (version: number | null) =>
  bench.db.database.execute('UPDATE pipelines SET current_version = $2 WHERE id = $1', [pipelineId, version]);

describe('the row of a launch', () => {
  it('and what the trail says of it are one commit, each row with its own run, however many share the statement', async () => {
    const launches = Array.from({ length: 20 }, (_, at) => launch(at % 2 === 0 ? {} : { trail: undefined }));
    const recorded = await Promise.all(launches.map((each) => inserts.insert(each)));
    expect(recorded.every((each) => each?.startedAt.endsWith('Z'))).toBe(true);
    for (const [at, { executionId }] of launches.entries()) {
      expect([await rows(executionId), await trail(executionId)]).toEqual([
        [{ status: 'RUNNING' }],
        at % 2 === 0 ? ['started'] : [],
      ]);
    }
  });

  it('that the database refuses leaves no trail, and does not take its neighbours along', async () => {
    const good = launch();
    const bad = launch({ pipelineId: newId() });
    const badTrail = launch({
      trail: { ...trailOf(newId()), started: { ...trailOf(newId()).started, userId: newId() } },
    });
    const outcomes = await Promise.allSettled([good, bad, badTrail].map((each) => inserts.insert(each)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    for (const { executionId } of [bad, badTrail]) {
      expect([await rows(executionId), await trail(executionId)]).toEqual([[], []]);
    }
    expect(await trail(good.executionId)).toEqual(['started']);
  });

  it('of a remembered version is written only while that body is the released one the pointer names', async () => {
    const remembered = () => launch({ standingBody: 'x' });
    const tried = async (each: NewExecution) => {
      const recorded = await inserts.insert(each);
      expect([(await rows(each.executionId)).length, await trail(each.executionId)]).toEqual(
        recorded ? [1, ['started']] : [0, []],
      );
      return recorded !== undefined;
    };
    expect(await tried(remembered())).toBe(true);
    expect(await tried(launch({ standingBody: 'another body' }))).toBe(false);
    await movePointer(null);
    const [stale, fresh] = await Promise.all([tried(remembered()), tried(launch())]);
    expect([stale, fresh]).toEqual([false, true]);
    await movePointer(1);
    const discard = `UPDATE pipeline_versions SET status = 'DISCARDED', discarded_at = NOW(), discarded_by = $2 WHERE pipeline_id = $1`;
    const restore = `UPDATE pipeline_versions SET status = 'RELEASED', discarded_at = NULL, discarded_by = NULL WHERE pipeline_id = $1`;
    await bench.db.database.execute(discard, [pipelineId, bench.workspace.userId]);
    expect(await tried(remembered())).toBe(false);
    await bench.db.database.execute(restore, [pipelineId]);
    expect(await tried(remembered())).toBe(true);
  });

  it('tells of the named datasources those the workspace sees now, with the stamp of their last change', async () => {
    const { database } = bench.db;
    const { workspaceId, userId } = bench.workspace;
    const add = async (name: string, granted: boolean, deleted = false) => {
      await database.execute(
        `INSERT INTO datasources (name, display_name, dialect, jdbc_url, credential_kind, properties_json, created_by, is_deleted)
         VALUES ($1, $1, 'POSTGRES', 'jdbc:postgresql://h/d', 'none', '{}', $2, $3)`,
        [name, userId, deleted],
      );
      if (!granted) return;
      await database.execute(
        'INSERT INTO datasource_workspaces (datasource_name, workspace_id, granted_by) VALUES ($1, $2, $3)',
        [name, workspaceId, userId],
      );
    };
    await add('seen', true);
    await add('also-seen', true);
    await add('foreign', false);
    await add('gone', true, true);
    await add('unasked', true);
    const names = ['seen', 'also-seen', 'foreign', 'gone', 'unknown'];
    const recorded = await inserts.insert(launch({ datasources: names }));
    const stamps = await database.query<{ name: string; at: string }>(
      `SELECT name, updated_at AS at FROM datasources WHERE name IN ('seen', 'also-seen')`,
    );
    expect(recorded?.sources).toEqual(new Map(stamps.map(({ name, at }) => [name, at])));
    await database.execute('DELETE FROM datasource_workspaces WHERE datasource_name = $1', ['seen']);
    const revoked = await inserts.insert(launch({ datasources: names }));
    expect([...revoked!.sources.keys()]).toEqual(['also-seen']);
    expect((await inserts.insert(launch()))?.sources.size).toBe(0);
  });
});

describe('the end of a run', () => {
  const ending = (executionId: string): TerminalRecord => ({
    executionId,
    status: 'SUCCESS',
    completedAt: '2026-11-30T12:00:00.000Z',
    durationMs: 1,
    failedNodeId: null,
    errorJson: null,
    nodeStatsJson: '[]',
    resultRowCount: null,
    resultSizeBytes: null,
    parametersJson: '{}',
    events: [],
    audited: {
      ...trailOf(executionId).started,
      detailsJson: trailOf(executionId).started.detailsJson.replace('started', 'completed'),
    },
  });

  it('is in the trail when it is in the row, and nowhere when somebody else has ended the run', async () => {
    const [mine, fenced] = [launch(), launch()];
    await Promise.all([mine, fenced].map((each) => inserts.insert(each)));
    await bench.db.database.execute(`UPDATE pipeline_executions SET status = 'ABORTED' WHERE execution_id = $1`, [
      fenced.executionId,
    ]);
    const writes = new TerminalWrites(bench.db.database);
    const results = await Promise.all([mine, fenced].map(({ executionId }) => writes.write(ending(executionId))));
    expect(results).toEqual(['committed', 'fenced']);
    expect([await trail(mine.executionId), await trail(fenced.executionId)]).toEqual([
      ['started', 'completed'],
      ['started'],
    ]);
  });
});
