import { describe, expect, it } from '@jest/globals';
import type { PenstockError } from '#libs/kernel';
import { createWorkspace } from '../../test/fixtures/authors.js';
import { refusal } from '../../test/fixtures/pipelines.js';
import { codesOf, useTemplateBench } from '../../test/fixtures/template-bench.js';
import { readImports } from './template-catalog.js';

const bench = useTemplateBench();

describe('libraries', () => {
  const macro = '<#macro eq c v>${c} = ${v}</#macro>';
  const library = (over: Record<string, unknown> = {}) => bench.body({ is_library: true, body: macro, ...over });

  it('imports by exact version and refuses what cannot be imported', async () => {
    const lib = await bench.authoring.create(bench.team.principal(), library());
    const plain = await bench.authoring.create(bench.team.principal(), bench.body());
    const imports = [
      { id: lib.id, version: 1, alias: 'ok' },
      { id: lib.id, version: 2, alias: 'absent' },
      { id: plain.id, version: 1, alias: 'plain' },
    ];
    const error = await refusal(bench.authoring.create(bench.team.principal(), bench.body({ imports })));
    expect((error.details.failures as { code: string; path: string }[]).map(({ code, path }) => [code, path])).toEqual([
      ['template.validation.import_not_found', 'imports[1]'],
      ['template.validation.import_not_library', 'imports[2]'],
    ]);
  });

  it('refuses a library that is no library, and a circle however long', async () => {
    const none = await refusal(bench.authoring.create(bench.team.principal(), library({ body: 'SELECT 1' })));
    expect(codesOf(none)).toEqual(['template.validation.is_library_without_macros']);
    const a = await bench.authoring.create(bench.team.principal(), library());
    const b = await bench.authoring.create(
      bench.team.principal(),
      library({ imports: [{ id: a.id, version: 1, alias: 'a' }] }),
    );
    const circle = await refusal(
      bench.authoring.update(
        bench.team.principal(),
        library({ id: a.id, imports: [{ id: b.id, version: 1, alias: 'b' }] }),
        a.body_hash,
      ),
    );
    expect(codesOf(circle)).toEqual(['template.validation.import_cycle']);
    const itself = await refusal(
      bench.authoring.update(
        bench.team.principal(),
        library({ id: a.id, imports: [{ id: a.id, version: 1, alias: 'me' }] }),
        a.body_hash,
      ),
    );
    expect(codesOf(itself)).toEqual(['template.validation.import_cycle']);
  });

  it('takes a chain of ten libraries and refuses the eleventh', async () => {
    let below: string | undefined;
    for (let depth = 1; depth <= 10; depth++) {
      const imports = below === undefined ? [] : [{ id: below, version: 1, alias: 'x' }];
      below = (await bench.authoring.create(bench.team.principal(), library({ imports }))).id;
    }
    const top = await bench.authoring.create(
      bench.team.principal(),
      bench.body({ imports: [{ id: below, version: 1, alias: 'x' }] }),
    );
    expect(top.version).toBe(1);
    const eleventh = await bench.authoring.create(
      bench.team.principal(),
      library({ imports: [{ id: below, version: 1, alias: 'x' }] }),
    );
    const deep = await refusal(
      bench.authoring.create(
        bench.team.principal(),
        bench.body({ imports: [{ id: eleventh.id, version: 1, alias: 'x' }] }),
      ),
    );
    expect(codesOf(deep)).toEqual(['template.validation.import_depth_exceeded']);
  });

  it('loads a closure with everything below, each version once, and leaves DISCARDED libraries out', async () => {
    const base = await bench.released({ is_library: true, body: macro });
    const left = await bench.authoring.create(
      bench.team.principal(),
      library({ imports: [{ id: base.id, version: 1, alias: 'b' }] }),
    );
    const top = await bench.authoring.create(
      bench.team.principal(),
      bench.body({
        imports: [
          { id: left.id, version: 1, alias: 'l' },
          { id: base.id, version: 1, alias: 'b' },
        ],
      }),
    );
    const ref = { id: top.id, version: 1 };
    const closure = (await bench.catalog.load(bench.team.id, [ref])).get(`${top.id}@1`)!;
    expect([...closure.libraries.keys()].sort()).toEqual([`${base.id}@1`, `${left.id}@1`].sort());
    const foreign = await createWorkspace(bench.db.database);
    expect((await bench.catalog.load(foreign.id, [ref])).size).toBe(0);
  });

  it('releases only what imports released libraries', async () => {
    const lib = await bench.authoring.create(bench.team.principal(), library());
    const user = await bench.authoring.create(
      bench.team.principal(),
      bench.body({ imports: [{ id: lib.id, version: 1, alias: 'l' }] }),
    );
    const early = await refusal(bench.lifecycle.release(bench.team.principal(), user.id, user.body_hash));
    expect(early.code).toBe('template.release.import_not_released');
    expect(early.details.pins_not_released).toEqual([
      { template_id: lib.id, template_version: 1, template_status: 'DRAFT' },
    ]);
    await bench.lifecycle.release(bench.team.principal(), lib.id, lib.body_hash);
    expect((await bench.lifecycle.release(bench.team.principal(), user.id, user.body_hash)).status).toBe('RELEASED');
  });

  it('waits with the discard of a library until a save that imports it has committed, then refuses it', async () => {
    const lib = await bench.released({ is_library: true, body: macro });
    const importing = bench.body({ imports: [{ id: lib.id, version: 1, alias: 'l' }] });
    const [saved, discarded] = await Promise.allSettled([
      bench.authoring.create(bench.team.principal(), importing),
      bench.lifecycle.discard(bench.team.principal(), lib.id, 1),
    ]);
    // Either order is fine; both together never are.
    expect([saved.status, discarded.status].sort()).toEqual(['fulfilled', 'rejected']);
    const lost = (saved.status === 'rejected' ? saved : (discarded as PromiseRejectedResult)).reason as PenstockError;
    expect(['template.validation.import_not_found', 'template.in_use']).toContain(lost.code);
  });

  const GOOD = { id: 'l/base', version: 1, alias: 'L' };
  it.each([
    ['an alias that is an expression', { ...GOOD, alias: 'x=1><#include "/etc/passwd"' }],
    ['an alias that begins with a digit', { ...GOOD, alias: '1L' }],
    ['an empty alias', { ...GOOD, alias: '' }],
    ['no alias', { id: 'l/base', version: 1 }],
    ['an id that climbs', { ...GOOD, id: '../base' }],
    ['an id without a folder', { ...GOOD, id: 'base' }],
    ['an id with a quote', { ...GOOD, id: "l/base' as x" }],
    ['version 0', { ...GOOD, version: 0 }],
    ['a version with a fraction', { ...GOOD, version: 1.5 }],
    ['a text for an import', 'l/base@1'],
  ])('a stored row with %s is refused on read and whole: no render leaves it out or takes it', async (_, entry) => {
    const lib = await bench.authoring.create(bench.team.principal(), library());
    const user = await bench.authoring.create(
      bench.team.principal(),
      bench.body({ imports: [{ id: lib.id, version: 1, alias: 'l' }] }),
    );
    await bench.db.database.execute(
      `UPDATE template_versions SET imports_json = jsonb_build_array(imports_json->0, $2::jsonb)
        WHERE template_id = (SELECT id FROM templates WHERE workspace_id = $1 AND name = $3)`,
      [bench.team.id, JSON.stringify(entry), user.id],
    );
    const reads = [
      () => bench.catalog.load(bench.team.id, [{ id: user.id, version: 1 }]),
      () => bench.reading.read(bench.team.principal(), user.id),
    ];
    for (const read of reads) {
      const error = await refusal(read());
      expect([error.code, error.details]).toEqual([
        'template.validation.dangerous_construct',
        { construct: 'import', path: 'imports[1]' },
      ]);
      expect(error.message).not.toContain(JSON.stringify(entry));
    }
  });

  it('takes no object for the list of imports of a stored row', () => {
    expect(() => readImports('{}')).toThrow(
      expect.objectContaining({ code: 'template.validation.dangerous_construct' }),
    );
    expect(readImports('[{"id": "l/base", "version": 1, "alias": "L"}]')).toEqual([GOOD]);
  });
});
