import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readJson, type JsonObject } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';
import { createTestDatabase, TestInstance, TestWorkspace, type TestDatabase } from './executions.fixture.js';

let db: TestDatabase;
let workspace: TestWorkspace;
let server: TestInstance;

beforeAll(async () => {
  db = await createTestDatabase();
  workspace = await TestWorkspace.create(db.database);
  server = await TestInstance.start({ database: db.database, store: new MemoryTransientStore({ maxBytes: 1 << 26 }) });
}, 60_000);

afterAll(async () => {
  await server?.stop();
  await db?.drop();
});

describe('a run', () => {
  it('of one caller node ends in SUCCESS, with its rows in the result and its events in order', async () => {
    const me = workspace.principal();
    const pipeline = await workspace.pipeline([{ id: 'one', sql: 'SELECT 1 AS one, :word AS word' }], {
      parameters: { word: { type: 'STRING', required: false, default: 'hé' } },
    });
    const { executionId, finished } = await server.launch(me, pipeline);
    expect(await finished).toMatchObject({ status: 'SUCCESS', dataReady: { total_rows: 1 } });
    const page = await server.results.page(me, executionId, {});
    expect(page.rows.map(({ text }) => text)).toEqual(['[1,"hé"]']);
    const frames = await server.frames(me, executionId);
    expect(frames.map(({ eventId, type }) => `${eventId} ${type}`)).toEqual([
      '1 execution_started',
      '2 node_started',
      '3 node_completed',
      '4 pipeline_completed',
      '5 data_ready',
    ]);
    const ready = readJson(frames[4]!.data) as JsonObject;
    expect(ready).toMatchObject({
      rows: [['1', 'hé'].map((v) => (v === '1' ? expect.anything() : v))],
      has_more: false,
    });
    const view = await server.service.read(me, executionId);
    expect(view).toMatchObject({ status: 'SUCCESS', result_row_count: 1, failed_node_id: null, error: null });
  });
});
