import { describe, expect, it } from '@jest/globals';
import { FailingStatements } from '../../test/fixtures/failing-statements.js';
import { datasourceScene, SECRET } from './datasource-scene.fixture.js';

const scene = datasourceScene();
const TABLES = ['datasources', 'datasource_workspaces', 'audit_log'];

/** Every row that an act on a datasource may write. */
async function everything(): Promise<unknown> {
  const rows: unknown[] = [];
  for (const table of TABLES) {
    const content = await scene.db.database.query(`SELECT row_to_json(t)::text AS row FROM ${table} t ORDER BY 1`);
    rows.push({ table, content });
  }
  return rows;
}

/** The act fails at each of its statements and leaves nothing behind; then it does its work as if nothing had been. */
async function holds<T>(act: () => Promise<T>): Promise<T> {
  const before = await everything();
  const faults = new FailingStatements(scene.db.database);
  const { steps, result } = await faults.failEach(act, async (n) => {
    expect({ n, state: await everything() }).toEqual({ n, state: before });
  });
  expect(steps).toBeGreaterThan(2);
  expect(await everything()).not.toEqual(before);
  return result;
}

const stored = async (): Promise<string> => {
  const [row] = await scene.db.database.query<{ sealed: string }>(
    `SELECT encode(credential_encrypted, 'hex') AS sealed FROM datasources WHERE name = 'pg-prod'`,
  );
  return row?.sealed ?? '';
};

describe('an act on a datasource whose n-th statement fails leaves nothing half-done, and a retry works', () => {
  it('create, with the grant of its owner', async () => {
    const made = await holds(() => scene.bench.service.create(scene.team.admin, scene.body()));
    expect(made).toMatchObject({ name: 'pg-prod', granted: true, password_set: true });
    expect((await scene.bench.service.read(scene.team.viewer, 'pg-prod')).name).toBe('pg-prod');
  });

  it('update, and a new owner with his grant', async () => {
    await scene.bench.service.create(scene.team.admin, scene.body());
    const changed = await holds(() =>
      scene.bench.service.update(scene.team.admin, 'pg-prod', scene.body({ display_name: 'Other', readonly: true })),
    );
    expect(changed).toMatchObject({ display_name: 'Other', readonly: true });
    const moved = await holds(() =>
      scene.bench.service.update(scene.team.root, 'pg-prod', scene.body({ workspace: 'others' })),
    );
    expect(moved.workspace).toBe('others');
  });

  it('rotate: the old secret stays whole until the new one is, and the log says it once', async () => {
    await scene.bench.service.create(scene.team.admin, scene.body());
    const before = await stored();
    const rotated = { kind: 'password', username: 'bob', secret: `${SECRET}-2` };
    await holds(() => scene.bench.service.update(scene.team.admin, 'pg-prod', scene.body({ credential: rotated })));
    expect(await stored()).not.toBe(before);
    const events = (await scene.team.audit()).map(([event]) => event);
    expect(events.filter((event) => event === 'datasource.key_rotation')).toHaveLength(1);
  });

  it('grant and take back', async () => {
    await scene.bench.service.create(scene.team.admin, scene.body());
    await holds(() => scene.bench.service.grant(scene.team.root, 'pg-prod', 'others'));
    expect((await scene.bench.service.read(scene.others.viewer, 'pg-prod')).name).toBe('pg-prod');
    await holds(() => scene.bench.service.revoke(scene.team.root, 'pg-prod', 'others'));
  });

  it('test: no outcome without its row in the trail', async () => {
    await scene.bench.service.create(scene.team.admin, scene.body());
    const outcome = await holds(() => scene.bench.service.test(scene.team.admin, 'pg-prod'));
    expect(outcome.connected).toBe(false);
  });

  it('delete', async () => {
    await scene.bench.service.create(scene.team.admin, scene.body());
    await holds(() => scene.bench.service.remove(scene.team.admin, 'pg-prod'));
    await expect(scene.bench.service.read(scene.team.viewer, 'pg-prod')).rejects.toMatchObject({
      code: 'datasource.not_found',
    });
  });
});
