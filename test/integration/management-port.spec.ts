import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { LocalServer } from '../fixtures/local-server.js';
import { errorOf } from '../fixtures/refusals.js';

let server: LocalServer;
beforeAll(async () => {
  server = await LocalServer.start();
});
afterAll(() => server?.stop());

it('the management port is out of reach for datasources, also where the system chose it', async () => {
  const admin = await server.admin();
  for (const host of ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '0177.0.0.1', '[::ffff:127.0.0.1]']) {
    const answer = await admin.call('POST', '/api/v1/datasources', {
      name: 'own-metrics',
      display_name: 'own',
      dialect: 'POSTGRES',
      jdbc_url: `jdbc:postgresql://${host}:${server.managementPort}/d`,
      credential: { kind: 'password', username: 'u', secret: 's' },
    });
    const error = errorOf(answer);
    expect([host, answer.status, error?.code]).toEqual([host, 400, 'datasource.validation.host_forbidden']);
    expect(JSON.stringify(error)).toContain('management');
  }
});
