import { describe, expect, it } from '@jest/globals';
import { readJson, writeJson, type JsonObject } from '#libs/kernel';
import { usePipelineBench } from '../../test/fixtures/pipeline-bench.js';
import { document, failuresOf, refusal } from '../../test/fixtures/pipelines.js';
import { definitionOf } from './pipeline-views.js';

const bench = usePipelineBench();

describe('creating', () => {
  it('lands version 1 as a draft, its body in normal form and its record around it', async () => {
    const view = await bench.authoring.create(
      bench.team.principal({ via: 'api_key' }),
      bench.body({ name: 'a/first' }),
    );
    expect(view).toMatchObject({
      name: 'a/first',
      display_name: 'first',
      folder: 'a',
      version: 1,
      status: 'DRAFT',
      entity_status: 'ACTIVE',
      current_version: null,
      owner: bench.team.principal().userId,
      warnings: [],
      version_stamps: { created_via: 'api_key' },
    });
    expect(Object.keys(definitionOf(view)).sort()).toEqual([
      'description',
      'display_name',
      'name',
      'nodes',
      'parameters',
      'schema_version',
    ]);
  });

  it('lets one of two creations of a name through, and answers 409 to the other', async () => {
    const same = bench.body();
    const outcomes = await Promise.allSettled([1, 2].map(() => bench.authoring.create(bench.team.principal(), same)));
    const lost = outcomes.find((outcome) => outcome.status === 'rejected')!;
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect([lost.reason.code, lost.reason.status]).toEqual(['pipeline.validation.duplicate_name', 409]);
  });

  it('keeps a discarded pipeline’s name taken, because a restore must always work', async () => {
    const one = await bench.released();
    await bench.lifecycle.discard(bench.team.principal(), one.id, 1);
    expect((await refusal(bench.authoring.create(bench.team.principal(), bench.rewrite(one)))).code).toBe(
      'pipeline.validation.duplicate_name',
    );
  });

  it('hashes content, not key order; a number’s spelling is content', async () => {
    const text = (a: string) => readJson(a) as JsonObject;
    const nodes = writeJson([bench.node()]);
    const one = await bench.authoring.create(
      bench.team.principal(),
      text(
        `{"name":"h/a","parameters":{"x":{"type":"DECIMAL","precision":5,"default":1.0}},"nodes":${nodes},"display_name":"d"}`,
      ),
    );
    const draft = await bench.authoring.update(
      bench.team.principal(),
      one.id,
      text(
        `{"display_name":"d","nodes":${nodes},"parameters":{"x":{"default":1.0,"precision":5,"type":"DECIMAL"}},"name":"h/a"}`,
      ),
      one.body_hash,
    );
    expect(draft.body_hash).toBe(one.body_hash);
    const other = await bench.authoring.update(
      bench.team.principal(),
      one.id,
      text(
        `{"display_name":"d","nodes":${nodes},"parameters":{"x":{"default":1.00,"precision":5,"type":"DECIMAL"}},"name":"h/a"}`,
      ),
      one.body_hash,
    );
    expect(other.body_hash).not.toBe(one.body_hash);
    expect(writeJson(other.parameters)).toContain('1.00');
  });

  it('stores unicode and huge content exactly', async () => {
    const description = `ünï "q" \\ \u{1F680} ${'長'.repeat(100_000)}`;
    const view = await bench.authoring.create(bench.team.principal(), bench.body({ description }));
    expect((await bench.reading.read(bench.team.principal(), view.id)).description).toBe(description);
  });

  it('reports the dropped keys of the save that dropped them', async () => {
    const view = await bench.authoring.create(bench.team.principal(), bench.body({ dependson: 1 }));
    expect(view.warnings).toMatchObject([{ code: 'pipeline.warning.unknown_field', path: 'dependson' }]);
    expect(await bench.reading.read(bench.team.principal(), view.id)).not.toHaveProperty('warnings');
  });
});

describe('writing', () => {
  it('copies on write, overwrites in place, and lets the pointer stand', async () => {
    const one = await bench.released();
    const two = await bench.authoring.update(
      bench.team.principal(),
      one.id,
      bench.rewrite(one, { description: 'v2' }),
      one.body_hash,
    );
    expect(two).toMatchObject({ version: 2, status: 'DRAFT', current_version: 1 });
    const again = await bench.authoring.update(
      bench.team.principal(),
      one.id,
      bench.rewrite(one, { description: 'v3' }),
      `"${two.body_hash}"`,
    );
    expect(again).toMatchObject({ version: 2, status: 'DRAFT' });
    // A read sent back as it came, server keys and all, is the same body.
    const same = await bench.authoring.update(bench.team.principal(), one.id, document({ ...again }), again.body_hash);
    expect([same.body_hash, same.warnings]).toEqual([again.body_hash, []]);
  });

  it('answers a body equal to its release with the release, and opens no draft', async () => {
    const one = await bench.released({ description: 'same' });
    const same = await bench.authoring.update(
      bench.team.principal(),
      one.id,
      document({ ...definitionOf(one) }),
      one.body_hash,
    );
    expect(same).toMatchObject({ version: 1, status: 'RELEASED' });
    expect(same.draft).toBeUndefined();
  });

  it('is never renamed', async () => {
    const one = await bench.released();
    const error = await refusal(
      bench.authoring.update(bench.team.principal(), one.id, bench.body({ name: 'b/other' }), one.body_hash),
    );
    expect(failuresOf(error)[0]).toMatchObject({
      code: 'pipeline.validation.name_invalid',
      details: { reason: 'immutable' },
    });
  });

  it('refuses a stale base with what stands there now', async () => {
    const one = await bench.released();
    const two = await bench.authoring.update(
      bench.team.principal(),
      one.id,
      bench.rewrite(one, { description: 'v2' }),
      one.body_hash,
    );
    const stale = await refusal(
      bench.authoring.update(bench.team.principal(), one.id, bench.rewrite(one), one.body_hash),
    );
    expect([stale.code, stale.status]).toEqual(['pipeline.version.conflict', 409]);
    expect(stale.details).toMatchObject({
      current_body_hash: two.body_hash,
      current_status: 'DRAFT',
      updated_by: bench.team.principal().userId,
    });
    const missing = await refusal(
      bench.authoring.update(bench.team.principal(), one.id, bench.rewrite(one), undefined),
    );
    expect([missing.status, missing.details['reason']]).toEqual([400, 'precondition_missing']);
  });

  it('lets one of two first writers of a draft win and gives the other the winner’s hash', async () => {
    const one = await bench.released();
    const outcomes = await Promise.allSettled(
      ['left', 'right'].map((description) =>
        bench.authoring.update(bench.team.principal(), one.id, bench.rewrite(one, { description }), one.body_hash),
      ),
    );
    const won = outcomes.find((outcome) => outcome.status === 'fulfilled')!;
    const lost = outcomes.find((outcome) => outcome.status === 'rejected')!;
    expect([lost.reason.code, lost.reason.details.current_body_hash]).toEqual([
      'pipeline.version.conflict',
      won.value.body_hash,
    ]);
  });

  it('cannot write to a pipeline that is discarded whole', async () => {
    const one = await bench.released();
    await bench.lifecycle.discard(bench.team.principal(), one.id, 1);
    const error = await refusal(
      bench.authoring.update(bench.team.principal(), one.id, bench.rewrite(one), one.body_hash),
    );
    expect([error.code, error.details['current_status']]).toEqual(['pipeline.version.conflict', 'DISCARDED']);
  });

  it('validates without storing', async () => {
    const count = async () => (await bench.db.database.query('SELECT FROM pipelines')).length;
    const before = await count();
    expect(await bench.authoring.validate(bench.team.principal(), bench.body())).toEqual({
      valid: true,
      failures: [],
      warnings: [],
      body_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const report = await bench.authoring.validate(bench.team.principal(), bench.body({ nodes: [] }));
    expect([report.valid, report.failures.map(({ code }) => code), report.body_hash]).toEqual([
      false,
      ['pipeline.validation.empty_pipeline'],
      null,
    ]);
    expect(await count()).toBe(before);
  });

  it('tells beforehand the hash that a save will have, whatever is spelled otherwise or dropped', async () => {
    const body = bench.body({ description: '' });
    const told = await bench.authoring.validate(bench.team.principal(), { ...body, stray: 'x', checks: null });
    const kept = await bench.authoring.create(bench.team.principal(), body);
    expect(told.body_hash).toBe(kept.body_hash);
  });
});
