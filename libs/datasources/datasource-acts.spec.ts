import { beforeEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';

import type { JsonObject } from '#libs/kernel';

import { datasourceScene, refusal, SECRET } from './datasource-scene.fixture.js';
import { DatasourceBench, type People } from './datasources.fixture.js';
import { loginOf } from './drivers/postgres/postgres.fixture.js';

describe('who does what to a datasource', () => {
  const scene = datasourceScene();

  describe('roles', () => {
    it.each<[string, (people: People) => ReturnType<People['key']>, string]>([
      ['a viewer', ({ viewer }) => viewer, 'auth.role_required'],
      ['an author', ({ author }) => author, 'auth.role_required'],
      ['a key that may only execute', (people) => people.key('execute'), 'auth.scope.insufficient'],
    ])('%s changes nothing', async (_who, principal, code) => {
      await scene.bench.service.create(scene.team.admin, scene.body());
      const by = principal(scene.team);
      expect((await refusal(scene.bench.service.create(by, scene.body({ name: 'x' })))).code).toBe(code);
      expect((await refusal(scene.bench.service.update(by, 'pg-prod', scene.body()))).code).toBe(code);
      expect((await refusal(scene.bench.service.remove(by, 'pg-prod'))).code).toBe(code);
      expect((await refusal(scene.bench.service.test(by, 'pg-prod'))).code).toBe(code);
    });

    it('a datasource of another workspace is absent; granted, it can be read and not changed', async () => {
      await scene.bench.service.create(scene.team.admin, scene.body());
      for (const act of [
        () => scene.bench.service.read(scene.others.admin, 'pg-prod'),
        () => scene.bench.service.update(scene.others.admin, 'pg-prod', scene.body()),
        () => scene.bench.service.remove(scene.others.admin, 'pg-prod'),
        () => scene.bench.service.test(scene.others.admin, 'pg-prod'),
        () => scene.bench.introspection.schemas(scene.others.admin, 'pg-prod'),
      ])
        expect((await refusal(act())).code).toBe('datasource.not_found');
      await scene.bench.service.grant(scene.team.root, 'pg-prod', 'others');
      expect((await scene.bench.service.read(scene.others.viewer, 'pg-prod')).workspace).toBe('team');
      expect((await refusal(scene.bench.service.update(scene.others.admin, 'pg-prod', scene.body()))).code).toBe(
        'auth.role_required',
      );
      expect((await refusal(scene.bench.service.remove(scene.others.admin, 'pg-prod'))).code).toBe(
        'auth.role_required',
      );
    });

    it('only a super admin’s session registers for the instance, for another workspace, or in our process', async () => {
      const sqlite = {
        dialect: 'SQLITE',
        jdbc_url: `jdbc:sqlite:${join(scene.folder, 'data.db')}`,
        credential: { kind: 'none' },
      };
      expect((await refusal(scene.bench.service.create(scene.team.admin, scene.body({ global: true })))).code).toBe(
        'datasource.validation.workspace_forbidden',
      );
      expect(
        (await refusal(scene.bench.service.create(scene.team.admin, scene.body({ workspace: 'others' })))).code,
      ).toBe('datasource.validation.workspace_forbidden');
      expect(
        (await refusal(scene.bench.service.create(scene.team.root, scene.body({ workspace: 'others', global: true }))))
          .code,
      ).toBe('datasource.validation.workspace_forbidden');
      expect(
        (await refusal(scene.bench.service.create(scene.team.root, scene.body({ workspace: 'nowhere' })))).code,
      ).toBe('datasource.validation.workspace_forbidden');
      expect((await refusal(scene.bench.service.create(scene.team.admin, scene.body(sqlite)))).code).toBe(
        'auth.role_required',
      );
      expect((await refusal(scene.bench.service.create(scene.team.key('author'), scene.body(sqlite)))).code).toBe(
        'auth.session.required',
      );
      expect(
        (await scene.bench.service.create(scene.team.root, scene.body({ name: 'for-all', global: true }))).workspace,
      ).toBeNull();
      expect(
        (await scene.bench.service.create(scene.team.root, scene.body({ name: 'theirs', workspace: 'others' })))
          .workspace,
      ).toBe('others');
      expect(
        (await scene.bench.service.create(scene.team.root, scene.body({ name: 'files', ...sqlite }))).credential,
      ).toEqual({
        kind: 'none',
      });
      expect((await scene.bench.service.read(scene.others.viewer, 'theirs')).name).toBe('theirs');
      expect(
        (await refusal(scene.bench.service.update(scene.team.admin, 'files', scene.body({ name: 'files', ...sqlite }))))
          .code,
      ).toBe('auth.role_required');
    });

    it('where members may have no datasource, only super admins register, change and delete one', async () => {
      await scene.bench.service.create(scene.team.admin, scene.body({ name: 'ours' }));
      const closed = await DatasourceBench.start(scene.db, scene.store, {
        DATAPIPELINES_WORKSPACES_MEMBER_DATASOURCES_ENABLED: 'false',
      });
      expect((await refusal(closed.service.create(scene.team.admin, scene.body()))).code).toBe(
        'datasource.validation.workspace_forbidden',
      );
      expect((await refusal(closed.service.update(scene.team.admin, 'ours', scene.body({ name: 'ours' })))).code).toBe(
        'datasource.validation.workspace_forbidden',
      );
      expect((await refusal(closed.service.remove(scene.team.admin, 'ours'))).code).toBe(
        'datasource.validation.workspace_forbidden',
      );
      expect((await scene.bench.service.read(scene.team.admin, 'ours')).name).toBe('ours');
      // What is not there stays not there, whether the gate is open or not.
      expect((await refusal(closed.service.remove(scene.team.admin, 'absent'))).code).toBe('datasource.not_found');
      expect((await closed.service.create(scene.team.root, scene.body())).workspace).toBe('team');
      await closed.service.remove(scene.team.root, 'ours');
      expect((await refusal(scene.bench.service.read(scene.team.admin, 'ours'))).code).toBe('datasource.not_found');
      await closed.stop();
    });
  });

  describe('credentials on PUT', () => {
    const sealed = async (): Promise<Buffer | null | undefined> =>
      (await scene.bench.repository.credential(scene.db.database, 'pg-prod'))?.sealed;

    beforeEach(async () => {
      await scene.bench.service.create(scene.team.admin, scene.body());
    });

    it('no secret keeps the stored one, while the kind stays', async () => {
      const before = await sealed();
      await scene.bench.service.update(
        scene.team.admin,
        'pg-prod',
        scene.body({ credential: { kind: 'password', username: 'alice' } }),
      );
      expect(await sealed()).toEqual(before);
      await scene.bench.service.update(scene.team.admin, 'pg-prod', scene.body({ credential: undefined as never }));
      expect((await scene.bench.service.read(scene.team.admin, 'pg-prod')).username).toBe('alice');
      expect(
        (
          await refusal(
            scene.bench.service.update(scene.team.admin, 'pg-prod', scene.body({ credential: { kind: 'token' } })),
          )
        ).code,
      ).toBe('datasource.validation.password_missing');
      expect(
        (
          await refusal(
            scene.bench.service.update(
              scene.team.admin,
              'pg-prod',
              scene.body({ credential: { kind: 'password', username: 'x', secret: ' ' } }),
            ),
          )
        ).code,
      ).toBe('datasource.validation.password_missing');
    });

    it('a new secret replaces it, and the older pair means the same; both together are refused', async () => {
      const before = await sealed();
      await scene.bench.service.update(
        scene.team.admin,
        'pg-prod',
        scene.body({ credential: undefined as never, username: 'bob', password: 'another' }),
      );
      expect(await sealed()).not.toEqual(before);
      expect(
        (
          await refusal(
            scene.bench.service.update(scene.team.admin, 'pg-prod', scene.body({ username: 'bob', password: 'x' })),
          )
        ).code,
      ).toBe('datasource.validation.properties_invalid');
      await scene.bench.service.update(
        scene.team.admin,
        'pg-prod',
        scene.body({ credential: { kind: 'token', secret: 'tok' } }),
      );
      expect((await scene.bench.service.read(scene.team.admin, 'pg-prod')).credential).toEqual({ kind: 'token' });
    });

    it('kind none clears the secret, and the way back needs one', async () => {
      const h2 = (credential: JsonObject): JsonObject =>
        scene.body({ name: 'h2', dialect: 'H2', jdbc_url: 'jdbc:h2:pg://db.example/d', credential });
      const stored = async (): Promise<unknown> =>
        (await scene.bench.repository.credential(scene.db.database, 'h2'))?.sealed;
      const update = (credential: JsonObject) => scene.bench.service.update(scene.team.admin, 'h2', h2(credential));
      await scene.bench.service.create(scene.team.admin, h2({ kind: 'password', username: 'sa', secret: 'first' }));
      expect(await stored()).toBeInstanceOf(Buffer);
      expect((await update({ kind: 'none' })).password_set).toBe(false);
      expect(await stored()).toBeNull();
      expect((await refusal(update({ kind: 'password', username: 'sa' }))).code).toBe(
        'datasource.validation.password_missing',
      );
    });

    it('a writer that keeps a secret of a kind another writer just changed is refused, not given a wrong one', async () => {
      await scene.db.database.execute(
        `UPDATE datasources SET credential_kind = 'token', username = NULL WHERE name = 'pg-prod'`,
      );
      const write = {
        name: 'pg-prod',
        displayName: 'x',
        description: null,
        dialect: 'POSTGRES',
        jdbcUrl: 'jdbc:postgresql:x',
        username: 'bob',
        credentialKind: 'password',
        credential: null,
        propertiesJson: '{}',
        queryTimeoutSeconds: null,
        includeSchemasJson: '[]',
        ownerWorkspaceId: null,
        isReadonly: false,
      };
      expect(await scene.bench.repository.update(scene.db.database, write)).toBe(false);
    });
  });

  it('grants are idempotent, keep their first actor, and are audited either way', async () => {
    await scene.bench.service.create(scene.team.admin, scene.body());
    await scene.bench.service.grant(scene.team.root, 'pg-prod', 'others');
    await scene.bench.service.grant(scene.others.root, 'pg-prod', 'others');
    const grants = await scene.bench.service.grants(scene.team.root, 'pg-prod');
    expect(grants.map(({ workspace, granted_by }) => [workspace, granted_by])).toEqual([
      ['others', scene.team.root.userId],
      ['team', scene.team.admin.userId],
    ]);
    await scene.bench.service.revoke(scene.team.root, 'pg-prod', 'others');
    await scene.bench.service.revoke(scene.team.root, 'pg-prod', 'others');
    expect((await scene.bench.access.visible(scene.others.workspaceId, ['pg-prod'])).size).toBe(0);
    expect((await refusal(scene.bench.service.grant(scene.team.root, 'pg-prod', 'nowhere'))).code).toBe(
      'workspace.not_found',
    );
    expect((await refusal(scene.bench.service.grant(scene.team.admin, 'pg-prod', 'others'))).code).toBe(
      'auth.role_required',
    );
    const events = (await scene.team.audit()).map(([event, details]) => [
      event,
      details['already_granted'] ?? details['had_grant'],
    ]);
    expect(events.slice(1)).toEqual([
      ['datasource.granted', false],
      ['datasource.granted', true],
      ['datasource.revoked', true],
      ['datasource.revoked', false],
    ]);
  });

  it('records a grant in the workspace that was granted, not in the one its actor happened to be in', async () => {
    await scene.bench.service.create(scene.team.admin, scene.body());
    await scene.bench.service.grant(scene.team.root, 'pg-prod', 'others');
    await scene.bench.service.revoke(scene.team.root, 'pg-prod', 'others');
    const granted = { workspace: 'others', workspace_id: scene.others.workspaceId, acting_via: 'super_admin' };
    expect((await scene.team.audit()).slice(1)).toMatchObject([
      ['datasource.granted', granted],
      ['datasource.revoked', granted],
    ]);
  });

  describe('connection test', () => {
    it('answers 200 either way, remembers the outcome and leaves updated_at alone', async () => {
      const { username, secret } = loginOf(scene.targetUrl);
      await scene.bench.service.create(
        scene.team.admin,
        scene.body({ credential: { kind: 'password', username, secret } }),
      );
      const before = await scene.bench.service.read(scene.team.admin, 'pg-prod');
      const outcome = await scene.bench.service.test(scene.team.admin, 'pg-prod');
      expect(outcome).toMatchObject({ connected: true, server_version: expect.stringMatching(/^PostgreSQL \d+/) });
      const after = await scene.bench.service.read(scene.team.admin, 'pg-prod');
      expect(after.updated_at).toBe(before.updated_at);
      expect(after.last_test).toEqual({ tested_at: outcome.tested_at, ok: true, message: outcome.server_version });
    });

    it('says what the driver said, without secret, user and URL', async () => {
      await scene.bench.service.create(
        scene.team.admin,
        scene.body({ credential: { kind: 'password', username: 'planted_user', secret: SECRET } }),
      );
      const outcome = await scene.bench.service.test(scene.team.admin, 'pg-prod');
      expect(outcome).toMatchObject({ connected: false, error_class: '28P01' });
      expect(outcome.error).toContain('***');
      const everything = JSON.stringify([
        outcome,
        await scene.bench.service.read(scene.team.admin, 'pg-prod'),
        await scene.team.audit(),
      ]);
      expect(everything).not.toContain(SECRET);
      expect(outcome.error).not.toContain('planted_user');
    });

    it('a credential that does not decrypt is a failed connection', async () => {
      await scene.bench.service.create(scene.team.admin, scene.body());
      await scene.db.database.execute(
        `UPDATE datasources SET credential_encrypted = set_byte(credential_encrypted, 20, get_byte(credential_encrypted, 20) # 1)`,
      );
      expect(await scene.bench.service.test(scene.team.admin, 'pg-prod')).toMatchObject({
        connected: false,
        error: 'The credential cannot be decrypted.',
      });
    });
  });

  it('every act leaves its row in the same transaction, with names of fields and no values', async () => {
    await scene.bench.service.create(scene.team.admin, scene.body());
    await scene.bench.service.update(
      scene.team.admin,
      'pg-prod',
      scene.body({ display_name: 'New', jdbc_url: 'jdbc:postgresql://planted-host/x' }),
    );
    await scene.bench.service.remove(scene.team.admin, 'pg-prod');
    const rows = await scene.team.audit();
    expect(rows.map(([event, { fields }]) => [event, fields])).toEqual([
      ['datasource.created', undefined],
      ['datasource.updated', ['display_name', 'url', 'credential']],
      ['datasource.key_rotation', undefined],
      ['datasource.deleted', undefined],
    ]);
    expect(rows[0]?.[1]).toMatchObject({ datasource: 'pg-prod', workspace: 'team' });
    expect(JSON.stringify(rows)).not.toMatch(/planted/);
  });

  it('a datasource in use stays, in any stored version, and foreign pipelines are only counted', async () => {
    await scene.bench.service.create(scene.team.admin, scene.body());
    const reference = {
      pipeline: 'daily',
      pipeline_id: 'p',
      node_id: 'read',
      pipeline_version: 3,
      version_status: 'DISCARDED',
    };
    scene.bench.references.stated.set('pg-prod', { references: [reference], hidden: 2 });
    const { code, details } = await refusal(scene.bench.service.remove(scene.team.admin, 'pg-prod'));
    expect([code, details]).toEqual([
      'datasource.in_use',
      { datasource_name: 'pg-prod', referencing_pipelines: ['daily'], references: [reference], hidden_references: 2 },
    ]);
    expect((await scene.bench.service.read(scene.team.admin, 'pg-prod')).name).toBe('pg-prod');
  });

  it('a save that holds a datasource and its delete exclude each other', async () => {
    await scene.bench.service.create(scene.team.admin, scene.body());
    let deleted: Promise<unknown> = Promise.resolve();
    await scene.db.database.transaction(async (tx) => {
      expect((await scene.bench.access.visibleForShare(tx, scene.team.workspaceId, ['pg-prod', 'nothing'])).size).toBe(
        1,
      );
      deleted = scene.bench.service.remove(scene.team.admin, 'pg-prod');
      const waits = await Promise.race([
        deleted.then(() => 'deleted'),
        new Promise((resolve) => setTimeout(() => resolve('waits'), 150)),
      ]);
      expect(waits).toBe('waits');
      scene.bench.references.stated.set('pg-prod', { references: [], hidden: 1 });
    });
    expect((await refusal(deleted)).code).toBe('datasource.in_use');
  });
});
