import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AuditEventName } from '#libs/audit';
import { ApiClient } from '../fixtures/api-client.js';
import { AUDIT_TABLE, keysFault } from '../fixtures/audit-table.js';
import { ConnectedScene, EVENTS_BEYOND_THE_SWEEP } from '../fixtures/events-beyond-the-sweep.js';
import { eventually } from '../fixtures/eventually.js';

/** Details that a row has because of where its act was done. */
const OF_THE_PLACE = ['correlation_id', 'workspace_id', 'workspace', 'acting_via'];

let scene: ConnectedScene;
let reader: pg.Client;

beforeAll(async () => {
  scene = await ConnectedScene.start();
  reader = new pg.Client({ connectionString: scene.server.test.superuserUrl });
  await reader.connect();
}, 60_000);
afterAll(async () => {
  await reader?.end();
  await scene?.stop();
});

async function rowsOf(event: AuditEventName): Promise<Record<string, unknown>[]> {
  const { rows } = await reader.query<{ details: Record<string, unknown> }>(
    'SELECT details_json AS details FROM audit_log WHERE event = $1 ORDER BY id',
    [event],
  );
  return rows.map(({ details }) => details);
}

describe('an event that the sweep of acts does not cause', () => {
  it.each(Object.entries(EVENTS_BEYOND_THE_SWEEP))(
    '%s: its act leaves rows with exactly its details',
    async (name, { cause, optional = [] }) => {
      const event = name as AuditEventName;
      const before = (await rowsOf(event)).length;
      await cause(scene);
      await eventually(`a row of ${event}`, async () => (await rowsOf(event)).length > before);
      const required = [...(AUDIT_TABLE.get(event) ?? [])].filter(([, always]) => always).map(([key]) => key);
      for (const details of (await rowsOf(event)).slice(before)) {
        const own = Object.keys(details).filter((key) => !OF_THE_PLACE.includes(key));
        expect([event, own.sort()]).toEqual([event, [...required, ...optional].sort()]);
        expect(keysFault(event, details)).toEqual([]);
      }
    },
  );

  it('is in rows that hold no secret of these acts, and every other row of theirs has its own keys', async () => {
    const { rows } = await reader.query<{ event: string; details: Record<string, unknown>; text: string }>(
      'SELECT event, details_json AS details, to_jsonb(a)::text AS text FROM audit_log a',
    );
    expect(rows.flatMap(({ event, details }) => keysFault(event, details))).toEqual([]);
    const secrets = /not the password|another one 1234|sunny morning|velvet gravel|SELECT 1|client-secret|dpk_\w{12}\./;
    expect(rows.filter(({ text }) => secrets.test(text))).toEqual([]);
    const mailed = scene.mail.received.flatMap(({ text = '' }) =>
      [...text.matchAll(/#token=(\S+)|\b((?:\w{4}-){2}\w{4})\b/g)].map(
        ([, token, password]) => token ?? password ?? '',
      ),
    );
    expect(mailed.length).toBeGreaterThan(2);
    for (const secret of mailed) expect(rows.filter(({ text }) => text.includes(secret))).toEqual([]);
  });
});

describe('a flood of wrong keys', () => {
  it('fills sixty rows a minute and no more', async () => {
    const { key } = await scene.admin.data('POST', '/api/v1/auth/api-keys', { name: 'flooded' });
    const thief = ApiClient.withKey(
      scene.server.baseUrl,
      `${key.slice(0, -4)}${key.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`,
    );
    for (let n = 0; n < 70; n++) expect((await thief.call('GET', '/api/v1/auth/me')).status).toBe(401);
    const rows = await rowsOf('auth.api_key.rejected');
    expect(rows).toHaveLength(60);
    expect(new Set(rows.flatMap(Object.keys))).toEqual(new Set(['correlation_id', 'reason']));
  });

  it('is not even sixty rows when the keys are malformed', async () => {
    const before = (await rowsOf('auth.api_key.rejected')).length;
    const stranger = ApiClient.withKey(scene.server.baseUrl, 'no key at all');
    expect((await stranger.call('GET', '/api/v1/auth/me')).status).toBe(401);
    expect(await rowsOf('auth.api_key.rejected')).toHaveLength(before);
  });
});
