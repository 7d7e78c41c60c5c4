import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Deployment } from '../fixtures/deployment.js';
import { describeWithProgram } from '../fixtures/programs.js';

describeWithProgram('redis-server', 'the root field “instance”', (redis) => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis, env: { DATAPIPELINES_UI_THEME: 'light' } });
  }, 90_000);
  afterAll(() => deployment?.stop());

  it('tells whoever is signed in what this deployment is, allows and bounds, and nobody else', async () => {
    const query =
      '{ instance { version env posture authoringEnabled localAccounts mailEnabled memberDatasourcesEnabled graphiqlEnabled demo defaultTheme baseUrl features limits { resultPageRows resultMaxBytes maxRequestBytes maxBodyChars nodeTimeoutMax } } }';
    const { body } = await deployment.author.call('POST', '/graphql', { query });
    expect(
      JSON.parse(
        JSON.stringify(body.data.instance, (_key, value) => (value?.isLosslessNumber ? Number(value) : value)),
      ),
    ).toEqual({
      version: expect.any(String),
      env: 'local',
      posture: 'development',
      authoringEnabled: true,
      localAccounts: true,
      mailEnabled: false,
      memberDatasourcesEnabled: true,
      graphiqlEnabled: true,
      demo: false,
      defaultTheme: 'light',
      baseUrl: null,
      features: ['calculators', 'checks', 'lake', 'mcp', 'semantics'],
      limits: {
        resultPageRows: 100_000,
        resultMaxBytes: 104_857_600,
        maxRequestBytes: 2_097_152,
        maxBodyChars: 262_144,
        nodeTimeoutMax: 900,
      },
    });
    const stranger = await fetch(`${deployment.server.baseUrl}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    expect(stranger.status).toBe(401);
  });
});
