import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { ExecutionsBench, type TestInstance } from './executions.fixture.js';

export interface Relative {
  execution_id: string;
  parent_execution_id: string | null;
  parent_node_id: string | null;
  status: string;
  triggered_via: string;
  triggered_by: string;
  correlation_id: string;
  result_row_count: string | null;
  error_code: string | null;
  parameters_json: string;
}

/** A bench of executions, and what specs of families ask of it. Call once per spec. */
export function familyScene() {
  const scene = {
    bench: undefined as unknown as ExecutionsBench,
    /** A root and all below it, oldest first. */
    family: (root: string): Promise<Relative[]> =>
      scene.bench.db.database.query<Relative>(
        `SELECT execution_id, parent_execution_id, parent_node_id, status, triggered_via, triggered_by, correlation_id,
                result_row_count, error_json->>'code' AS error_code, parameters_json
           FROM pipeline_executions WHERE root_execution_id = $1 ORDER BY started_at, execution_id`,
        [root],
      ),
    rowsOf: async (server: TestInstance, executionId: string): Promise<string[]> =>
      (await server.results.page(scene.bench.workspace.principal(), executionId, {})).rows.map(({ text }) => text),
    /** A chain of pipelines, each calling the next; the last one runs `sql`. Returns the first. */
    chain: async (depth: number, sql: string): Promise<string> => {
      let pipeline = await scene.bench.workspace.pipeline([{ id: 'leaf', sql }]);
      for (let level = 1; level < depth; level++) {
        pipeline = await scene.bench.workspace.pipeline([{ id: 'call', child: pipeline, output: caller }]);
      }
      return pipeline;
    },
  };
  beforeAll(async () => {
    scene.bench = await ExecutionsBench.create();
  }, 60_000);
  afterEach(() => scene.bench.stopServers());
  afterAll(() => scene.bench?.drop());
  return scene;
}

export const table = (name: string) => ({ target: 'tempdb', table: name });
export const caller = { target: 'caller' };
