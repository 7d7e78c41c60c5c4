import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Deployment } from '../fixtures/deployment.js';
import { eventually } from '../fixtures/eventually.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RunScene } from '../fixtures/run-scene.js';

const QUERY =
  '{ system { runsInFlight instances { id startedAt heartbeatAgeMs runsInFlight jobs { name outcome } } } }';

interface System {
  runsInFlight: unknown;
  instances: {
    id: string;
    heartbeatAgeMs: unknown;
    runsInFlight: unknown;
    jobs: { name: string; outcome: string }[];
  }[];
}

describeWithProgram('redis-server', 'the root field “system”', (redis) => {
  let deployment: Deployment;
  let scene: RunScene;

  beforeAll(async () => {
    deployment = await Deployment.start({
      redis,
      servers: 2,
      env: { DATAPIPELINES_EXECUTOR_HEARTBEAT_SECONDS: '1' },
    });
    scene = await RunScene.build(deployment);
  }, 90_000);
  afterAll(async () => {
    await deployment?.stop();
    await scene?.drop();
  });

  it('shows a super admin every server, what it runs and how its jobs went, and nobody else', async () => {
    const read = async (): Promise<System> =>
      (await deployment.admin.call('POST', '/graphql', { query: QUERY })).body.data.system;
    const before = await read();
    expect(new Set(before.instances.map(({ id }) => id)).size).toBe(2);
    await scene.launch(deployment.author, scene.sleeping, { seconds: 4 });
    const busy = await eventually('a run in flight', async () => {
      const system = await read();
      return Number(system.runsInFlight) === 1 && system;
    });
    expect(busy.instances.map(({ runsInFlight }) => Number(runsInFlight)).sort()).toEqual([0, 1]);
    expect(busy.instances.every(({ heartbeatAgeMs }) => Number(heartbeatAgeMs) >= 0)).toBe(true);
    for (const { jobs } of busy.instances) expect(jobs).toContainEqual({ name: 'spill folders', outcome: 'SUCCESS' });
    const refused = await deployment.author.call('POST', '/graphql', { query: QUERY });
    expect(refused.body.errors[0].extensions.code).toBe('auth.session.required');
  });
});
