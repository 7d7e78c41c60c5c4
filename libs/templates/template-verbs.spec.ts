import { describe, expect, it } from '@jest/globals';
import { readJson } from '#libs/kernel';
import { authoringInstance, refusal } from '../../test/fixtures/pipelines.js';
import { useTemplateBench } from '../../test/fixtures/template-bench.js';
import { TemplateAuthoring } from './template-authoring.js';
import { TemplateLifecycle } from './template-lifecycle.js';

const bench = useTemplateBench();

describe('verbs', () => {
  it('releases the draft it was shown and no other; a repeated release finds none', async () => {
    const created = await bench.authoring.create(bench.team.principal(), bench.body());
    const stale = await refusal(bench.lifecycle.release(bench.team.principal(), created.id, 'b'.repeat(64)));
    expect(stale.code).toBe('template.version.conflict');
    const done = await bench.lifecycle.release(bench.team.principal(), created.id, created.body_hash);
    expect(done).toMatchObject({
      status: 'RELEASED',
      current_version: 1,
      version_stamps: { released_by: bench.team.principal().userId },
    });
    const again = await refusal(bench.lifecycle.release(bench.team.principal(), created.id, created.body_hash));
    expect(again.code).toBe('template.version.not_draft');
  });

  it('discards, restores and switches with the stamps and pointer of the contract', async () => {
    const one = await bench.released();
    const draft = await bench.authoring.update(
      bench.team.principal(),
      bench.body({ id: one.id, body: 'SELECT 2' }),
      one.body_hash,
    );
    await bench.lifecycle.release(bench.team.principal(), one.id, draft.body_hash);
    expect((await bench.lifecycle.switchCurrent(bench.team.principal(), one.id, 1)).current_version).toBe(1);
    const gone = await bench.lifecycle.discard(bench.team.principal(), one.id, 1);
    expect(gone).toMatchObject({ status: 'DISCARDED', current_version: 2 });
    expect(gone.version_stamps.discarded_by).toBe(bench.team.principal().userId);
    const back = await bench.lifecycle.restore(bench.team.principal(), one.id, 1);
    expect(back).toMatchObject({ status: 'RELEASED', current_version: 2, version_stamps: { discarded_at: null } });
    expect(back.version_stamps.released_at).toBe(one.version_stamps.released_at);
    expect((await refusal(bench.lifecycle.restore(bench.team.principal(), one.id, 1))).code).toBe(
      'template.version.not_discarded',
    );
    expect((await refusal(bench.lifecycle.discard(bench.team.principal(), one.id, 9))).code).toBe('template.not_found');
  });

  it('purges drafts only; the sole draft takes its template along and frees the name', async () => {
    const created = await bench.authoring.create(bench.team.principal(), bench.body());
    await bench.lifecycle.purgeDraft(bench.team.principal(), created.id, created.body_hash);
    expect((await refusal(bench.reading.read(bench.team.principal(), created.id))).code).toBe('template.not_found');
    expect((await bench.authoring.create(bench.team.principal(), bench.body({ id: created.id }))).version).toBe(1);
    const kept = await bench.released();
    expect((await refusal(bench.lifecycle.purge(bench.team.principal(), kept.id))).code).toBe(
      'template.version.last_release',
    );
    expect((await refusal(bench.lifecycle.purgeVersion(bench.team.principal(), kept.id, 1))).code).toBe(
      'template.version.last_release',
    );
    expect((await refusal(bench.lifecycle.purgeDraft(bench.team.principal(), kept.id, kept.body_hash))).code).toBe(
      'template.version.not_draft',
    );
  });

  it('keeps what pipelines or templates use', async () => {
    const one = await bench.released({ is_library: true, body: '<#macro m>1</#macro>' });
    const user = await bench.authoring.create(
      bench.team.principal(),
      bench.body({ imports: [{ id: one.id, version: 1, alias: 'L' }] }),
    );
    const used = await refusal(bench.lifecycle.discard(bench.team.principal(), one.id, 1));
    expect([used.code, used.status]).toEqual(['template.in_use', 409]);
    expect(used.details).toMatchObject({ referencing_pipelines: [], references: [], referencing_templates: [user.id] });
  });

  it('lets a key take back only its owner’s own unreleased draft, and no other verb', async () => {
    const own = await bench.authoring.create(bench.team.principal(), bench.body());
    const stranger = (await bench.team.member()).principal({ via: 'api_key' });
    expect((await refusal(bench.lifecycle.purgeDraft(stranger, own.id, own.body_hash))).code).toBe(
      'auth.session.required',
    );
    expect((await refusal(bench.lifecycle.discard(bench.team.principal({ via: 'api_key' }), own.id, 1))).code).toBe(
      'auth.session.required',
    );
    await bench.lifecycle.purgeDraft(bench.team.principal({ via: 'api_key' }), own.id, own.body_hash);
    const one = await bench.released();
    const draft = await bench.authoring.update(
      bench.team.principal(),
      bench.body({ id: one.id, body: 'SELECT 2' }),
      one.body_hash,
    );
    const key = bench.team.principal({ via: 'api_key' });
    expect((await refusal(bench.lifecycle.purgeDraft(key, one.id, draft.body_hash))).code).toBe(
      'auth.session.required',
    );
  });

  it('writes an audit row with each verb, in its transaction: a refused verb leaves none', async () => {
    const one = await bench.released();
    await refusal(bench.lifecycle.restore(bench.team.principal(), one.id, 1));
    await bench.lifecycle.discard(bench.team.principal(), one.id, 1);
    const rows = await bench.db.database.query<{ event: string; details: string }>(
      `SELECT event, details_json AS details FROM audit_log WHERE details_json->>'name' = $1 ORDER BY timestamp`,
      [one.id],
    );
    expect(rows.map(({ event }) => event)).toEqual(['template.version.released', 'template.version.discarded']);
    expect(readJson(rows[0]!.details)).toMatchObject({ via: 'session', workspace: bench.team.name });
  });

  it('answers busy when somebody holds the template for longer than a verb may wait', async () => {
    const one = await bench.released();
    const holder = bench.db.database.transaction(async (tx) => {
      await tx.query('SELECT FROM templates WHERE name = $1 FOR NO KEY UPDATE', [one.id]);
      return refusal(bench.lifecycle.discard(bench.team.principal(), one.id, 1));
    });
    const error = await holder;
    expect([error.code, error.details.reason]).toEqual(['template.version.conflict', 'busy']);
  });

  it('refuses every write where authoring is disabled, and still switches', async () => {
    const one = await bench.released();
    const there = await authoringInstance(bench.db.database, { DATAPIPELINES_DEPLOYMENT_AUTHORING_ENABLED: 'false' });
    const receiver = { authoring: there.get(TemplateAuthoring), lifecycle: there.get(TemplateLifecycle) };
    const act = bench.team.principal();
    for (const work of [
      () => receiver.authoring.create(act, bench.body()),
      () => receiver.authoring.update(act, bench.body({ id: one.id }), 'x'),
      () => receiver.lifecycle.release(act, one.id, 'x'),
      () => receiver.lifecycle.discard(act, one.id, 1),
      () => receiver.lifecycle.restore(act, one.id, 1),
      () => receiver.lifecycle.purge(act, one.id),
      () => receiver.lifecycle.purgeVersion(act, one.id, 1),
      () => receiver.lifecycle.purgeDraft(act, one.id, 'x'),
    ]) {
      expect((await refusal(work())).code).toBe('template.authoring.disabled');
    }
    expect((await receiver.lifecycle.switchCurrent(act, one.id, 1)).current_version).toBe(1);
    await there.close();
  });
});
