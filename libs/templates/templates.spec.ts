import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuditLog } from '#libs/audit';
import { loadConfiguration, readJson, type Configuration, type JsonObject, type PenstockError } from '#libs/kernel';
import type { Database, Queryable } from '#libs/persistence';
import { createWorkspace, type TestWorkspace } from '../../test/fixtures/authors.js';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { TemplateRenderer } from './rendering/template-renderer.js';
import { TemplateAuthoring } from './template-authoring.js';
import { TemplateBrowseRepository } from './template-browse.repository.js';
import { TemplateCatalog } from './template-catalog.js';
import { TemplateLifecycle } from './template-lifecycle.js';
import { TemplatePins, type TemplatePinReport } from './template-pins.js';
import { TemplateReading } from './template-reading.js';
import { TemplateReleases } from './template-releases.js';
import { TemplateRepository } from './template.repository.js';
import { TemplateValidation } from './template-validation.js';

/** Pins as a test sets them; pipelines have their own tests of the real port. */
class FixedPins extends TemplatePins {
  readonly pinned = new Set<string>();
  override async pinsOf(_tx: Queryable, _workspace: string, name: string): Promise<TemplatePinReport> {
    if (!this.pinned.has(name)) return { referencing_pipelines: [], references: [] };
    const reference = {
      pipeline: 'a/p',
      pipeline_id: '',
      node_id: 'n',
      pipeline_version: 1,
      pipeline_version_status: 'DRAFT',
      template_version: 1,
    };
    return { referencing_pipelines: ['a/p'], references: [reference] };
  }
}

function assemble(database: Database, configuration: Configuration) {
  const repository = new TemplateRepository(database);
  const catalog = new TemplateCatalog(database);
  const renderer = new TemplateRenderer(configuration);
  const validation = new TemplateValidation(catalog, renderer);
  const audit = new AuditLog();
  const releases = new TemplateReleases(repository, catalog, audit);
  const pins = new FixedPins();
  return {
    pins,
    catalog,
    authoring: new TemplateAuthoring(database, configuration, repository, catalog, validation),
    reading: new TemplateReading(repository, new TemplateBrowseRepository(database)),
    lifecycle: new TemplateLifecycle(database, configuration, repository, validation, releases, pins, audit),
  };
}

const INLINE = { DATAPIPELINES_TEMPLATES_RENDER_ISOLATION: 'inline' };

let db: TestDatabase;
let team: TestWorkspace;
let family: ReturnType<typeof assemble>;

beforeAll(async () => {
  db = await createTestDatabase();
  team = await createWorkspace(db.database);
  family = assemble(db.database, loadConfiguration(INLINE));
}, 60_000);
afterAll(() => db.drop());

let counter = 0;
function body(over: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: `a/t${++counter}.sql`,
    dialect: 'POSTGRES',
    display_name: 'T',
    description: '',
    body: 'SELECT 1',
    ...over,
  };
}

async function refusal(work: Promise<unknown>): Promise<PenstockError> {
  try {
    await work;
  } catch (error) {
    return error as PenstockError;
  }
  throw new TypeError('expected a refusal');
}

const codes = (error: PenstockError): string[] =>
  ((error.details.failures as { code: string }[] | undefined) ?? [{ code: error.code }]).map(({ code }) => code);

async function released(over: Record<string, unknown> = {}) {
  const created = await family.authoring.create(team.principal(), body(over));
  return family.lifecycle.release(team.principal(), created.id, created.body_hash);
}

describe('creating templates', () => {
  it('lands version 1 as a draft without a pointer, stamped with the surface it came on', async () => {
    const view = await family.authoring.create(team.principal({ via: 'mcp' }), body({ display_name: 'Ünï ✓' }));
    expect(view).toMatchObject({
      version: 1,
      status: 'DRAFT',
      current_version: null,
      display_name: 'Ünï ✓',
      type: 'sql',
      engine: 'freemarker',
      draft: { version: 1, body_hash: view.body_hash },
      version_stamps: { created_via: 'mcp', updated_via: 'mcp', released_at: null },
    });
    expect(view.body_hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('generates a name in test/ when none is given', async () => {
    const { id: _, ...unnamed } = body();
    expect((await family.authoring.create(team.principal(), unnamed)).id).toMatch(/^test\/t-[0-9a-f]{12}$/);
  });

  it('stores the body byte for byte, because positions in errors must match what the author sees', async () => {
    const source = "SELECT 1\r\n  -- é \u{1F680}\r\n\tFROM t \\ 'x'";
    const view = await family.authoring.create(team.principal(), body({ body: source }));
    expect((await family.reading.read(team.principal(), view.id)).body).toBe(source);
  });

  it('lets one of two creations of a name through, and answers 409 to the other', async () => {
    const same = body();
    const outcomes = await Promise.allSettled([
      family.authoring.create(team.principal(), same),
      family.authoring.create(team.principal(), same),
    ]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const lost = outcomes.find((outcome) => outcome.status === 'rejected')!;
    expect([lost.reason.code, lost.reason.status]).toEqual(['template.validation.duplicate_name', 409]);
  });

  it('collects every breach of the field rules in one answer', async () => {
    const error = await refusal(
      family.authoring.create(team.principal(), {
        schema_version: 2,
        id: 'flat.sql',
        engine: 'jinja',
        type: 'html',
        dialect: 'ACCESS',
        display_name: ' ',
        description: 5,
        is_library: 'yes',
        imports: [
          { id: 'a/b', version: 1, alias: 'x' },
          { id: '../etc', version: 1, alias: 'y' },
          7,
          { id: 'a/b', version: 1, alias: 'x' },
        ],
        body: '${a?eval} &lt; <#if>',
        surprise: 1,
      }),
    );
    expect(codes(error)).toEqual([
      'template.validation.schema_version_unsupported',
      'template.validation.id_invalid',
      'template.validation.engine_unsupported',
      'template.validation.type_invalid',
      'template.validation.dialect_invalid',
      'pipeline.execution.invalid_parameter_type',
      'pipeline.execution.invalid_parameter_type',
      'template.validation.dangerous_construct',
      'template.validation.dangerous_construct',
      'template.validation.duplicate_alias',
      'pipeline.execution.invalid_parameter_type',
      'pipeline.execution.invalid_parameter_type',
      expect.stringMatching(/^template\.validation\./),
      expect.stringMatching(/^template\.validation\./),
      'template.validation.import_not_found',
    ]);
    expect(JSON.stringify(error.details)).not.toContain('../etc');
    expect((error.details.failures as { details: { reason?: string } }[])[1]!.details.reason).toBe('folder_required');
  });

  it.each([
    ['SELECT 1 &amp; 2', 'template.validation.html_entity'],
    ['<#include "x">', 'template.validation.dangerous_construct'],
    ['${"x"?new()}', 'template.validation.dangerous_construct'],
    ['<#if true>', 'template.validation.syntax_error'],
    ['x'.repeat(262_145), 'template.validation.syntax_error'],
    ['', 'template.validation.syntax_error'],
    ['\uE000', 'template.validation.dangerous_construct'],
  ])('refuses the body %#', async (source, code) => {
    expect(codes(await refusal(family.authoring.create(team.principal(), body({ body: source }))))).toContain(code);
  });

  it('refuses a viewer, and a key without the author scope', async () => {
    const viewer = team.principal({ flags: { author: false, promoter: false } });
    expect((await refusal(family.authoring.create(viewer, body()))).code).toBe('auth.role_required');
    const reader = { ...team.principal({ via: 'api_key' }), scopes: ['read' as const] };
    expect((await refusal(family.authoring.create(reader, body()))).code).toBe('auth.scope.insufficient');
  });
});

describe('writing templates', () => {
  it('opens a draft over a release, overwrites it in place, and leaves the pointer alone', async () => {
    const first = await released();
    const second = await family.authoring.update(
      team.principal(),
      body({ id: first.id, body: 'SELECT 2' }),
      first.body_hash,
    );
    expect(second).toMatchObject({ version: 2, status: 'DRAFT', current_version: 1 });
    const third = await family.authoring.update(
      team.principal({ via: 'api_key' }),
      body({ id: first.id, body: 'SELECT 3' }),
      `"${second.body_hash}.0a1b2c3d"`,
    );
    expect(third).toMatchObject({
      version: 2,
      status: 'DRAFT',
      version_stamps: { created_via: 'session', updated_via: 'api_key' },
    });
  });

  it('answers an equal body with the release itself, yet keeps a new description', async () => {
    const first = await released();
    const same = await family.authoring.update(
      team.principal(),
      body({ id: first.id, description: 'told better' }),
      first.body_hash,
    );
    expect(same).toMatchObject({ version: 1, status: 'RELEASED', description: 'told better' });
    expect(same.draft).toBeUndefined();
  });

  it('refuses a stale base with what stands there now, and a missing one as 400', async () => {
    const first = await released();
    const second = await family.authoring.update(
      team.principal(),
      body({ id: first.id, body: 'SELECT 2' }),
      first.body_hash,
    );
    const stale = await refusal(family.authoring.update(team.principal(), body({ id: first.id }), first.body_hash));
    expect(stale.code).toBe('template.version.conflict');
    expect(stale.details).toMatchObject({
      current_body_hash: second.body_hash,
      current_status: 'DRAFT',
      updated_by: team.principal().userId,
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const missing = await refusal(family.authoring.update(team.principal(), body({ id: first.id }), 'W/"x"'));
    expect([missing.status, missing.details.reason]).toEqual([400, 'precondition_missing']);
  });

  it('lets one of two first writers of a draft win and gives the other the winner’s hash', async () => {
    const first = await released();
    const other = (await team.member()).principal();
    const outcomes = await Promise.allSettled([
      family.authoring.update(team.principal(), body({ id: first.id, body: 'SELECT 22' }), first.body_hash),
      family.authoring.update(other, body({ id: first.id, body: 'SELECT 33' }), first.body_hash),
    ]);
    const won = outcomes.find((outcome) => outcome.status === 'fulfilled')!;
    const lost = outcomes.find((outcome) => outcome.status === 'rejected')!;
    expect(lost.reason.code).toBe('template.version.conflict');
    expect(lost.reason.details.current_body_hash).toBe(won.value.body_hash);
  });

  it('keeps the dialect a template was written for', async () => {
    const first = await released();
    const changed = await refusal(
      family.authoring.update(team.principal(), body({ id: first.id, dialect: 'MYSQL' }), first.body_hash),
    );
    expect(changed.code).toBe('template.validation.dialect_invalid');
    expect(changed.details).toMatchObject({ dialect: 'MYSQL', established_dialect: 'POSTGRES', template_id: first.id });
    const { dialect: _, ...inherited } = body({ id: first.id, body: 'SELECT 9' });
    expect((await family.authoring.update(team.principal(), inherited, first.body_hash)).dialect).toBe('POSTGRES');
  });

  it('hashes content alone: equal content has one hash whatever its name, and every field of it counts', async () => {
    const one = await family.authoring.create(team.principal(), body());
    const two = await family.authoring.create(team.principal(), body({ display_name: 'Other' }));
    const other = await family.authoring.create(team.principal(), body({ dialect: 'MYSQL' }));
    expect(two.body_hash).toBe(one.body_hash);
    expect(other.body_hash).not.toBe(one.body_hash);
  });
});

describe('libraries', () => {
  const macro = '<#macro eq c v>${c} = ${v}</#macro>';
  const library = (over: Record<string, unknown> = {}) => body({ is_library: true, body: macro, ...over });

  it('imports by exact version and refuses what cannot be imported', async () => {
    const lib = await family.authoring.create(team.principal(), library());
    const plain = await family.authoring.create(team.principal(), body());
    const imports = [
      { id: lib.id, version: 1, alias: 'ok' },
      { id: lib.id, version: 2, alias: 'absent' },
      { id: plain.id, version: 1, alias: 'plain' },
    ];
    const error = await refusal(family.authoring.create(team.principal(), body({ imports })));
    expect((error.details.failures as { code: string; path: string }[]).map(({ code, path }) => [code, path])).toEqual([
      ['template.validation.import_not_found', 'imports[1]'],
      ['template.validation.import_not_library', 'imports[2]'],
    ]);
  });

  it('refuses a library that is no library, and a circle however long', async () => {
    const none = await refusal(family.authoring.create(team.principal(), library({ body: 'SELECT 1' })));
    expect(codes(none)).toEqual(['template.validation.is_library_without_macros']);
    const a = await family.authoring.create(team.principal(), library());
    const b = await family.authoring.create(
      team.principal(),
      library({ imports: [{ id: a.id, version: 1, alias: 'a' }] }),
    );
    const circle = await refusal(
      family.authoring.update(
        team.principal(),
        library({ id: a.id, imports: [{ id: b.id, version: 1, alias: 'b' }] }),
        a.body_hash,
      ),
    );
    expect(codes(circle)).toEqual(['template.validation.import_cycle']);
    const itself = await refusal(
      family.authoring.update(
        team.principal(),
        library({ id: a.id, imports: [{ id: a.id, version: 1, alias: 'me' }] }),
        a.body_hash,
      ),
    );
    expect(codes(itself)).toEqual(['template.validation.import_cycle']);
  });

  it('takes a chain of ten libraries and refuses the eleventh', async () => {
    let below: string | undefined;
    for (let depth = 1; depth <= 10; depth++) {
      const imports = below === undefined ? [] : [{ id: below, version: 1, alias: 'x' }];
      below = (await family.authoring.create(team.principal(), library({ imports }))).id;
    }
    const top = await family.authoring.create(
      team.principal(),
      body({ imports: [{ id: below, version: 1, alias: 'x' }] }),
    );
    expect(top.version).toBe(1);
    const eleventh = await family.authoring.create(
      team.principal(),
      library({ imports: [{ id: below, version: 1, alias: 'x' }] }),
    );
    const deep = await refusal(
      family.authoring.create(team.principal(), body({ imports: [{ id: eleventh.id, version: 1, alias: 'x' }] })),
    );
    expect(codes(deep)).toEqual(['template.validation.import_depth_exceeded']);
  });

  it('loads a closure with everything below, each version once, and leaves DISCARDED libraries out', async () => {
    const base = await released({ is_library: true, body: macro });
    const left = await family.authoring.create(
      team.principal(),
      library({ imports: [{ id: base.id, version: 1, alias: 'b' }] }),
    );
    const top = await family.authoring.create(
      team.principal(),
      body({
        imports: [
          { id: left.id, version: 1, alias: 'l' },
          { id: base.id, version: 1, alias: 'b' },
        ],
      }),
    );
    const ref = { id: top.id, version: 1 };
    const closure = (await family.catalog.load(team.id, [ref])).get(`${top.id}@1`)!;
    expect([...closure.libraries.keys()].sort()).toEqual([`${base.id}@1`, `${left.id}@1`].sort());
    const foreign = await createWorkspace(db.database);
    expect((await family.catalog.load(foreign.id, [ref])).size).toBe(0);
  });

  it('releases only what imports released libraries', async () => {
    const lib = await family.authoring.create(team.principal(), library());
    const user = await family.authoring.create(
      team.principal(),
      body({ imports: [{ id: lib.id, version: 1, alias: 'l' }] }),
    );
    const early = await refusal(family.lifecycle.release(team.principal(), user.id, user.body_hash));
    expect(early.code).toBe('template.release.import_not_released');
    expect(early.details.pins_not_released).toEqual([
      { template_id: lib.id, template_version: 1, template_status: 'DRAFT' },
    ]);
    await family.lifecycle.release(team.principal(), lib.id, lib.body_hash);
    expect((await family.lifecycle.release(team.principal(), user.id, user.body_hash)).status).toBe('RELEASED');
  });

  it('waits with the discard of a library until a save that imports it has committed, then refuses it', async () => {
    const lib = await released({ is_library: true, body: macro });
    const importing = body({ imports: [{ id: lib.id, version: 1, alias: 'l' }] });
    const [saved, discarded] = await Promise.allSettled([
      family.authoring.create(team.principal(), importing),
      family.lifecycle.discard(team.principal(), lib.id, 1),
    ]);
    // Either order is fine; both together never are.
    expect([saved.status, discarded.status].sort()).toEqual(['fulfilled', 'rejected']);
    const lost = (saved.status === 'rejected' ? saved : (discarded as PromiseRejectedResult)).reason as PenstockError;
    expect(['template.validation.import_not_found', 'template.in_use']).toContain(lost.code);
  });
});

describe('verbs', () => {
  it('releases the draft it was shown and no other; a repeated release finds none', async () => {
    const created = await family.authoring.create(team.principal(), body());
    const stale = await refusal(family.lifecycle.release(team.principal(), created.id, 'b'.repeat(64)));
    expect(stale.code).toBe('template.version.conflict');
    const done = await family.lifecycle.release(team.principal(), created.id, created.body_hash);
    expect(done).toMatchObject({
      status: 'RELEASED',
      current_version: 1,
      version_stamps: { released_by: team.principal().userId },
    });
    const again = await refusal(family.lifecycle.release(team.principal(), created.id, created.body_hash));
    expect(again.code).toBe('template.version.not_draft');
  });

  it('discards, restores and switches with the stamps and pointer of the contract', async () => {
    const one = await released();
    const draft = await family.authoring.update(
      team.principal(),
      body({ id: one.id, body: 'SELECT 2' }),
      one.body_hash,
    );
    await family.lifecycle.release(team.principal(), one.id, draft.body_hash);
    expect((await family.lifecycle.switchCurrent(team.principal(), one.id, 1)).current_version).toBe(1);
    const gone = await family.lifecycle.discard(team.principal(), one.id, 1);
    expect(gone).toMatchObject({ status: 'DISCARDED', current_version: 2 });
    expect(gone.version_stamps.discarded_by).toBe(team.principal().userId);
    const back = await family.lifecycle.restore(team.principal(), one.id, 1);
    expect(back).toMatchObject({ status: 'RELEASED', current_version: 2, version_stamps: { discarded_at: null } });
    expect(back.version_stamps.released_at).toBe(one.version_stamps.released_at);
    expect((await refusal(family.lifecycle.restore(team.principal(), one.id, 1))).code).toBe(
      'template.version.not_discarded',
    );
    expect((await refusal(family.lifecycle.discard(team.principal(), one.id, 9))).code).toBe('template.not_found');
  });

  it('purges drafts only; the sole draft takes its template along and frees the name', async () => {
    const created = await family.authoring.create(team.principal(), body());
    await family.lifecycle.purgeDraft(team.principal(), created.id, created.body_hash);
    expect((await refusal(family.reading.read(team.principal(), created.id))).code).toBe('template.not_found');
    expect((await family.authoring.create(team.principal(), body({ id: created.id }))).version).toBe(1);
    const kept = await released();
    expect((await refusal(family.lifecycle.purge(team.principal(), kept.id))).code).toBe(
      'template.version.last_release',
    );
    expect((await refusal(family.lifecycle.purgeVersion(team.principal(), kept.id, 1))).code).toBe(
      'template.version.last_release',
    );
    expect((await refusal(family.lifecycle.purgeDraft(team.principal(), kept.id, kept.body_hash))).code).toBe(
      'template.version.not_draft',
    );
  });

  it('keeps what pipelines or templates use', async () => {
    const one = await released();
    family.pins.pinned.add(one.id);
    const used = await refusal(family.lifecycle.discard(team.principal(), one.id, 1));
    expect([used.code, used.status]).toEqual(['template.in_use', 409]);
    expect(used.details).toMatchObject({ referencing_pipelines: ['a/p'], referencing_templates: [] });
    family.pins.pinned.delete(one.id);
  });

  it('lets a key take back only its owner’s own unreleased draft, and no other verb', async () => {
    const own = await family.authoring.create(team.principal(), body());
    const stranger = (await team.member()).principal({ via: 'api_key' });
    expect((await refusal(family.lifecycle.purgeDraft(stranger, own.id, own.body_hash))).code).toBe(
      'auth.session.required',
    );
    expect((await refusal(family.lifecycle.discard(team.principal({ via: 'api_key' }), own.id, 1))).code).toBe(
      'auth.session.required',
    );
    await family.lifecycle.purgeDraft(team.principal({ via: 'api_key' }), own.id, own.body_hash);
    const one = await released();
    const draft = await family.authoring.update(
      team.principal(),
      body({ id: one.id, body: 'SELECT 2' }),
      one.body_hash,
    );
    const key = team.principal({ via: 'api_key' });
    expect((await refusal(family.lifecycle.purgeDraft(key, one.id, draft.body_hash))).code).toBe(
      'auth.session.required',
    );
  });

  it('writes an audit row with each verb, in its transaction: a refused verb leaves none', async () => {
    const one = await released();
    await refusal(family.lifecycle.restore(team.principal(), one.id, 1));
    await family.lifecycle.discard(team.principal(), one.id, 1);
    const rows = await db.database.query<{ event: string; details: string }>(
      `SELECT event, details_json AS details FROM audit_log WHERE details_json->>'name' = $1 ORDER BY timestamp`,
      [one.id],
    );
    expect(rows.map(({ event }) => event)).toEqual(['template.version.released', 'template.version.discarded']);
    expect(readJson(rows[0]!.details)).toMatchObject({ via: 'session', workspace: team.name });
  });

  it('answers busy when somebody holds the template for longer than a verb may wait', async () => {
    const one = await released();
    const holder = db.database.transaction(async (tx) => {
      await tx.query('SELECT FROM templates WHERE name = $1 FOR NO KEY UPDATE', [one.id]);
      return refusal(family.lifecycle.discard(team.principal(), one.id, 1));
    });
    const error = await holder;
    expect([error.code, error.details.reason]).toEqual(['template.version.conflict', 'busy']);
  });

  it('refuses every write where authoring is disabled, and still switches', async () => {
    const one = await released();
    const receiver = assemble(
      db.database,
      loadConfiguration({ ...INLINE, DATAPIPELINES_DEPLOYMENT_AUTHORING_ENABLED: 'false' }),
    );
    const act = team.principal();
    for (const work of [
      () => receiver.authoring.create(act, body()),
      () => receiver.authoring.update(act, body({ id: one.id }), 'x'),
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
  });
});

describe('browsing', () => {
  it('searches with text, never with patterns, and lists one level with counts of the subtree', async () => {
    const here = await createWorkspace(db.database, 'browse');
    const act = here.principal();
    const names = ['f/a.sql', 'f/b_c.sql', 'f/bxc.sql', 'f/g/h/two.sql', 'f/g/one.sql', 'f_/x.sql', 'z/y.sql'];
    for (const id of names)
      await family.authoring.create(act, body({ id, display_name: `100% ${id}`, description: 'back\\slash' }));
    const page = { offset: 0, limit: 50 };
    const search = async (q: string) => (await family.reading.list(act, { q }, page)).items.map(({ id }) => id);
    expect(await search('b_c')).toEqual(['f/b_c.sql']);
    expect(await search('100%')).toHaveLength(7);
    expect(await search('k\\s')).toHaveLength(7);
    expect(await search('ONE')).toEqual(['f/g/one.sql']);
    const level = await family.reading.tree(act, 'f', { offset: 0, limit: 2 });
    expect(level.folders).toEqual([{ path: 'f/g', segment: 'g', template_count: 2 }]);
    expect([level.templates.map(({ id }) => id), level.total, level.has_more]).toEqual([
      ['f/a.sql', 'f/b_c.sql'],
      3,
      true,
    ]);
    const root = await family.reading.tree(act, '', page);
    expect(root.folders.map(({ path, template_count }) => [path, template_count])).toEqual([
      ['f', 5],
      ['f_', 1],
      ['z', 1],
    ]);
    expect(await family.reading.tree(act, 'F//', page)).toMatchObject({ folders: [], templates: [], total: 0 });
    const first = await family.reading.listKeyset(act, {}, { first: 3 });
    expect(first).toMatchObject({ hasNext: true, hasPrevious: false });
    const after = first.items.at(-1)!.id;
    expect((await family.reading.listKeyset(act, {}, { first: 9, after })).items.map(({ id }) => id)).toEqual(
      names.slice(3),
    );
    const last = await family.reading.listKeyset(act, {}, { last: 2, before: 'f_/x.sql' });
    expect([last.items.map(({ id }) => id), last.hasNext, last.hasPrevious]).toEqual([
      ['f/g/h/two.sql', 'f/g/one.sql'].sort(),
      true,
      true,
    ]);
  });

  it('shows discarded templates only to who asks for them', async () => {
    const here = await createWorkspace(db.database, 'gone');
    const act = here.principal();
    const made = await family.authoring.create(act, body());
    await family.lifecycle.release(act, made.id, made.body_hash);
    await family.lifecycle.discard(act, made.id, 1);
    const page = { offset: 0, limit: 50 };
    expect((await family.reading.list(act, {}, page)).total).toBe(0);
    expect((await family.reading.list(act, { status: 'DISCARDED' }, page)).items).toMatchObject([
      { id: made.id, status: 'DISCARDED', version: null, entity_status: 'DISCARDED' },
    ]);
    expect(await family.reading.read(act, made.id)).toMatchObject({ status: 'DISCARDED', entity_status: 'DISCARDED' });
  });

  it('answers a foreign workspace exactly as if the template did not exist', async () => {
    const one = await released();
    const foreign = (await createWorkspace(db.database)).principal();
    for (const verb of [
      (name: string) => family.reading.read(foreign, name),
      (name: string) => family.reading.versions(foreign, name),
      (name: string) => family.authoring.update(foreign, body({ id: name }), one.body_hash),
      (name: string) => family.lifecycle.release(foreign, name, one.body_hash),
      (name: string) => family.lifecycle.discard(foreign, name, 1),
      (name: string) => family.lifecycle.restore(foreign, name, 1),
      (name: string) => family.lifecycle.switchCurrent(foreign, name, 1),
      (name: string) => family.lifecycle.purge(foreign, name),
    ]) {
      const there = (await refusal(verb(one.id))).toBody();
      const nowhere = (await refusal(verb('no/such.sql'))).toBody();
      expect({ ...there, details: {} }).toEqual({ ...nowhere, details: {} });
      expect(there.code).toBe('template.not_found');
    }
  });

  it('lists versions without their bodies, highest first', async () => {
    const one = await released();
    await family.authoring.update(team.principal(), body({ id: one.id, body: 'SELECT 2' }), one.body_hash);
    const versions = await family.reading.versions(team.principal(), one.id);
    expect(versions.map(({ version, status, is_current }) => [version, status, is_current])).toEqual([
      [2, 'DRAFT', false],
      [1, 'RELEASED', true],
    ]);
    expect(versions[0]).not.toHaveProperty('body');
    expect((versions as unknown as JsonObject[]).length).toBe(2);
  });
});
