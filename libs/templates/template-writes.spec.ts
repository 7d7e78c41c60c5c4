import { describe, expect, it } from '@jest/globals';
import { refusal } from '../../test/fixtures/pipelines.js';
import { codesOf, useTemplateBench } from '../../test/fixtures/template-bench.js';

const bench = useTemplateBench();

describe('creating templates', () => {
  it('lands version 1 as a draft without a pointer, stamped with the surface it came on', async () => {
    const view = await bench.authoring.create(
      bench.team.principal({ via: 'mcp' }),
      bench.body({ display_name: 'Ünï ✓' }),
      { confirmNewRoot: true },
    );
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
    const { id: _, ...unnamed } = bench.body();
    expect((await bench.authoring.create(bench.team.principal(), unnamed)).id).toMatch(/^test\/t-[0-9a-f]{12}$/);
  });

  it('stores the body byte for byte, because positions in errors must match what the author sees', async () => {
    const source = "SELECT 1\r\n  -- é \u{1F680}\r\n\tFROM t \\ 'x'";
    const view = await bench.authoring.create(bench.team.principal(), bench.body({ body: source }));
    expect((await bench.reading.read(bench.team.principal(), view.id)).body).toBe(source);
  });

  it('lets one of two creations of a name through, and answers 409 to the other', async () => {
    const same = bench.body();
    const outcomes = await Promise.allSettled([
      bench.authoring.create(bench.team.principal(), same),
      bench.authoring.create(bench.team.principal(), same),
    ]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const lost = outcomes.find((outcome) => outcome.status === 'rejected')!;
    expect([lost.reason.code, lost.reason.status]).toEqual(['template.validation.duplicate_name', 409]);
  });

  it('collects every breach of the field rules in one answer', async () => {
    const error = await refusal(
      bench.authoring.create(bench.team.principal(), {
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
    expect(codesOf(error)).toEqual([
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
    expect(
      codesOf(await refusal(bench.authoring.create(bench.team.principal(), bench.body({ body: source })))),
    ).toContain(code);
  });

  it('refuses a viewer, and a key without the author scope', async () => {
    const viewer = bench.team.principal({ flags: { author: false, promoter: false } });
    expect((await refusal(bench.authoring.create(viewer, bench.body()))).code).toBe('auth.role_required');
    const reader = { ...bench.team.principal({ via: 'api_key' }), scopes: ['read' as const] };
    expect((await refusal(bench.authoring.create(reader, bench.body()))).code).toBe('auth.scope.insufficient');
  });
});

describe('writing templates', () => {
  it('opens a draft over a release, overwrites it in place, and leaves the pointer alone', async () => {
    const first = await bench.released();
    const second = await bench.authoring.update(
      bench.team.principal(),
      bench.body({ id: first.id, body: 'SELECT 2' }),
      first.body_hash,
    );
    expect(second).toMatchObject({ version: 2, status: 'DRAFT', current_version: 1 });
    const third = await bench.authoring.update(
      bench.team.principal({ via: 'api_key' }),
      bench.body({ id: first.id, body: 'SELECT 3' }),
      `"${second.body_hash}.0a1b2c3d"`,
    );
    expect(third).toMatchObject({
      version: 2,
      status: 'DRAFT',
      version_stamps: { created_via: 'session', updated_via: 'api_key' },
    });
  });

  it('answers an equal body with the release itself, yet keeps a new description', async () => {
    const first = await bench.released();
    const same = await bench.authoring.update(
      bench.team.principal(),
      bench.body({ id: first.id, description: 'told better' }),
      first.body_hash,
    );
    expect(same).toMatchObject({ version: 1, status: 'RELEASED', description: 'told better' });
    expect(same.draft).toBeUndefined();
  });

  it('refuses a stale base with what stands there now, and a missing one as 400', async () => {
    const first = await bench.released();
    const second = await bench.authoring.update(
      bench.team.principal(),
      bench.body({ id: first.id, body: 'SELECT 2' }),
      first.body_hash,
    );
    const stale = await refusal(
      bench.authoring.update(bench.team.principal(), bench.body({ id: first.id }), first.body_hash),
    );
    expect(stale.code).toBe('template.version.conflict');
    expect(stale.details).toMatchObject({
      current_body_hash: second.body_hash,
      current_status: 'DRAFT',
      updated_by: bench.team.principal().userId,
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const missing = await refusal(
      bench.authoring.update(bench.team.principal(), bench.body({ id: first.id }), 'W/"x"'),
    );
    expect([missing.status, missing.details.reason]).toEqual([400, 'precondition_missing']);
  });

  it('lets one of two first writers of a draft win and gives the other the winner’s hash', async () => {
    const first = await bench.released();
    const other = (await bench.team.member()).principal();
    const outcomes = await Promise.allSettled([
      bench.authoring.update(bench.team.principal(), bench.body({ id: first.id, body: 'SELECT 22' }), first.body_hash),
      bench.authoring.update(other, bench.body({ id: first.id, body: 'SELECT 33' }), first.body_hash),
    ]);
    const won = outcomes.find((outcome) => outcome.status === 'fulfilled')!;
    const lost = outcomes.find((outcome) => outcome.status === 'rejected')!;
    expect(lost.reason.code).toBe('template.version.conflict');
    expect(lost.reason.details.current_body_hash).toBe(won.value.body_hash);
  });

  it('keeps the dialect a template was written for', async () => {
    const first = await bench.released();
    const changed = await refusal(
      bench.authoring.update(bench.team.principal(), bench.body({ id: first.id, dialect: 'MYSQL' }), first.body_hash),
    );
    expect(changed.code).toBe('template.validation.dialect_invalid');
    expect(changed.details).toMatchObject({ dialect: 'MYSQL', established_dialect: 'POSTGRES', template_id: first.id });
    const { dialect: _, ...inherited } = bench.body({ id: first.id, body: 'SELECT 9' });
    expect((await bench.authoring.update(bench.team.principal(), inherited, first.body_hash)).dialect).toBe('POSTGRES');
  });

  it('hashes content alone: equal content has one hash whatever its name, and every field of it counts', async () => {
    const one = await bench.authoring.create(bench.team.principal(), bench.body());
    const two = await bench.authoring.create(bench.team.principal(), bench.body({ display_name: 'Other' }));
    const other = await bench.authoring.create(bench.team.principal(), bench.body({ dialect: 'MYSQL' }));
    expect(two.body_hash).toBe(one.body_hash);
    expect(other.body_hash).not.toBe(one.body_hash);
  });
});

describe('validating templates', () => {
  const validate = (body: Record<string, unknown>) => bench.authoring.validate(bench.team.principal(), body);

  it('tells beforehand the hash that a save will have, and stores nothing', async () => {
    const body = bench.body({ body: 'SELECT ${1 + 1}' });
    const told = await validate(body);
    expect(told).toEqual({ valid: true, failures: [], warnings: [], body_hash: expect.any(String) });
    expect((await refusal(bench.reading.read(bench.team.principal(), String(body['id'])))).code).toBe(
      'template.not_found',
    );
    expect((await bench.authoring.create(bench.team.principal(), body)).body_hash).toBe(told.body_hash);
  });

  it('judges a body for a template that exists as an update: its dialect is inherited, and not to be changed', async () => {
    const { id } = await bench.released();
    const { dialect: _, ...inherited } = bench.body({ id, body: 'SELECT 2' });
    const told = await validate(inherited);
    expect(told.valid).toBe(true);
    const [failure] = (await validate({ ...inherited, dialect: 'MYSQL' })).failures;
    expect(failure?.code).toBe('template.validation.dialect_invalid');
    const { dialect: __, ...nowhere } = bench.body();
    expect((await validate(nowhere)).failures[0]?.code).toBe('template.validation.dialect_invalid');
  });

  it('reports fields, source and imports at once, with the place of each and no hash', async () => {
    const imports = [{ id: 'no/where', version: 1, alias: 'x' }];
    const report = await validate(bench.body({ display_name: '', imports, body: 'SELECT ${', surprise: 1 }));
    expect([report.valid, report.body_hash]).toEqual([false, null]);
    expect(report.failures.map(({ code, path }) => [code, path])).toEqual([
      ['pipeline.execution.invalid_parameter_type', 'display_name'],
      ['pipeline.execution.invalid_parameter_type', 'surprise'],
      ['template.validation.syntax_error', 'body'],
      ['template.validation.import_not_found', 'imports[0]'],
    ]);
    expect(report.failures[1]?.details?.['allowed']).toContain('display_name');
  });

  it('takes an id that no database could look up for what it is: a wrong name', async () => {
    expect((await validate(bench.body({ id: 'a/\u0000' }))).failures[0]?.code).toBe('template.validation.id_invalid');
  });

  it('is for authors', async () => {
    const viewer = bench.team.principal({ flags: { author: false, promoter: false } });
    expect((await refusal(bench.authoring.validate(viewer, bench.body()))).code).toBe('auth.role_required');
  });
});
