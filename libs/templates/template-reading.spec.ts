import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '#libs/kernel';
import { createWorkspace } from '../../test/fixtures/authors.js';
import { refusal } from '../../test/fixtures/pipelines.js';
import { useTemplateBench } from '../../test/fixtures/template-bench.js';

const bench = useTemplateBench();

describe('browsing', () => {
  it('searches with text, never with patterns, and lists one level with counts of the subtree', async () => {
    const here = await createWorkspace(bench.db.database, 'browse');
    const act = here.principal();
    const names = ['f/a.sql', 'f/b_c.sql', 'f/bxc.sql', 'f/g/h/two.sql', 'f/g/one.sql', 'f_/x.sql', 'z/y.sql'];
    for (const id of names)
      await bench.authoring.create(act, bench.body({ id, display_name: `100% ${id}`, description: 'back\\slash' }));
    const page = { first: 50 };
    const search = async (q: string) => (await bench.reading.list(act, { q }, page)).items.map(({ id }) => id);
    expect(await search('b_c')).toEqual(['f/b_c.sql']);
    expect(await search('100%')).toHaveLength(7);
    expect(await search('k\\s')).toHaveLength(7);
    expect(await search('ONE')).toEqual(['f/g/one.sql']);
    const level = await bench.reading.tree(act, 'f', { first: 2 });
    expect(level.folders).toEqual([{ path: 'f/g', segment: 'g', template_count: 2 }]);
    expect([level.templates.map(({ id }) => id), level.total, level.has_more]).toEqual([
      ['f/a.sql', 'f/b_c.sql'],
      3,
      true,
    ]);
    const root = await bench.reading.tree(act, '', page);
    expect(root.folders.map(({ path, template_count }) => [path, template_count])).toEqual([
      ['f', 5],
      ['f_', 1],
      ['z', 1],
    ]);
    expect(await bench.reading.tree(act, 'F//', page)).toMatchObject({ folders: [], templates: [], total: 0 });
    const first = await bench.reading.list(act, {}, { first: 3 });
    expect(first).toMatchObject({ hasNext: true, hasPrevious: false });
    const after = first.items.at(-1)!.id;
    expect((await bench.reading.list(act, {}, { first: 9, after })).items.map(({ id }) => id)).toEqual(names.slice(3));
    const last = await bench.reading.list(act, {}, { last: 2, before: 'f_/x.sql' });
    expect([last.items.map(({ id }) => id), last.hasNext, last.hasPrevious]).toEqual([
      ['f/g/h/two.sql', 'f/g/one.sql'].sort(),
      true,
      true,
    ]);
  });

  it('shows discarded templates only to who asks for them', async () => {
    const here = await createWorkspace(bench.db.database, 'gone');
    const act = here.principal();
    const made = await bench.authoring.create(act, bench.body());
    await bench.lifecycle.release(act, made.id, made.body_hash);
    await bench.lifecycle.discard(act, made.id, 1);
    const page = { first: 50 };
    expect(await bench.reading.count(act, {})).toBe(0);
    expect((await bench.reading.list(act, {}, page)).items).toEqual([]);
    expect((await bench.reading.list(act, { status: 'DISCARDED' }, page)).items).toMatchObject([
      { id: made.id, status: 'DISCARDED', version: null, entity_status: 'DISCARDED' },
    ]);
    expect(await bench.reading.read(act, made.id)).toMatchObject({ status: 'DISCARDED', entity_status: 'DISCARDED' });
  });

  it('answers a foreign workspace exactly as if the template did not exist', async () => {
    const one = await bench.released();
    const foreign = (await createWorkspace(bench.db.database)).principal();
    for (const verb of [
      (name: string) => bench.reading.read(foreign, name),
      (name: string) => bench.reading.versions(foreign, name),
      (name: string) => bench.authoring.update(foreign, bench.body({ id: name }), one.body_hash),
      (name: string) => bench.lifecycle.release(foreign, name, one.body_hash),
      (name: string) => bench.lifecycle.discard(foreign, name, 1),
      (name: string) => bench.lifecycle.restore(foreign, name, 1),
      (name: string) => bench.lifecycle.switchCurrent(foreign, name, 1),
      (name: string) => bench.lifecycle.purge(foreign, name),
    ]) {
      const there = (await refusal(verb(one.id))).toBody();
      const nowhere = (await refusal(verb('no/such.sql'))).toBody();
      expect({ ...there, details: {} }).toEqual({ ...nowhere, details: {} });
      expect(there.code).toBe('template.not_found');
    }
  });

  it('lists versions without their bodies, highest first', async () => {
    const one = await bench.released();
    await bench.authoring.update(bench.team.principal(), bench.body({ id: one.id, body: 'SELECT 2' }), one.body_hash);
    const versions = await bench.reading.versions(bench.team.principal(), one.id);
    expect(versions.map(({ version, status, is_current }) => [version, status, is_current])).toEqual([
      [2, 'DRAFT', false],
      [1, 'RELEASED', true],
    ]);
    expect(versions[0]).not.toHaveProperty('body');
    expect((versions as unknown as JsonObject[]).length).toBe(2);
  });
});
