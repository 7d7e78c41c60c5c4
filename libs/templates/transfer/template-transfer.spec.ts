import { beforeAll, describe, expect, it } from '@jest/globals';
import { readJson, writeJson, type JsonObject, type PenstockError } from '#libs/kernel';
import { createWorkspace, type TestWorkspace } from '../../../test/fixtures/authors.js';
import { failuresOf, refusal } from '../../../test/fixtures/pipelines.js';
import { useTemplateBench } from '../../../test/fixtures/template-bench.js';
import { TemplateTransfer } from './template-transfer.js';

const bench = useTemplateBench();
let transfer: TemplateTransfer;
let elsewhere: TestWorkspace;

beforeAll(async () => {
  transfer = bench.instance.get(TemplateTransfer);
  elsewhere = await createWorkspace(bench.db.database);
});

type Entry = Record<string, unknown>;

/** A single read is a file entry, as it travels. */
async function entry(over: Entry = {}): Promise<Entry> {
  return { ...(await bench.released(over)) };
}

const file = (...templates: Entry[]): JsonObject => readJson(writeJson({ templates })) as JsonObject;

const stored = (workspace: TestWorkspace): Promise<unknown[]> =>
  bench.db.database.query(
    `SELECT t.name, v.version, v.status, v.body_hash FROM templates t JOIN template_versions v ON v.template_id = t.id
      WHERE t.workspace_id = $1 ORDER BY t.name, v.version`,
    [workspace.id],
  );

const refused = (...templates: Entry[]): Promise<PenstockError> =>
  refusal(transfer.import(elsewhere.principal(), file(...templates)));

describe('templates as files', () => {
  it('land released at their number, whatever the order in the file, and change nothing when they come again', async () => {
    const library = await entry({ is_library: true, body: '<#macro m>1</#macro>' });
    const user = await entry({ imports: [{ id: library['id'], version: 1, alias: 'L' }], body: 'SELECT <@L.m/>' });
    const first = await transfer.import(elsewhere.principal(), file(user, library));
    expect(first.templates.map(({ id, imported }) => [id, imported])).toEqual([
      [library['id'], true],
      [user['id'], true],
    ]);
    expect(first.templates[1]).toMatchObject({ version: 1, status: 'RELEASED', body_hash: user['body_hash'] });
    const before = await stored(elsewhere);
    const again = await transfer.import(elsewhere.principal(), file(user, library));
    expect(again.templates.every(({ imported }) => !imported)).toBe(true);
    expect(await stored(elsewhere)).toEqual(before);
    const audits = await bench.db.database.query(
      `SELECT 1 FROM audit_log WHERE event = 'template.version.released' AND details_json->>'workspace_id' = $1`,
      [elsewhere.id],
    );
    expect(audits).toHaveLength(2);
  });

  it('keep when they were released, and name who brought them as who released them here', async () => {
    const [carried, undated] = [await entry(), await entry()];
    const importer = elsewhere.principal();
    const released = '2024-02-29T23:59:59.123456Z';
    await transfer.import(importer, file({ ...carried, released_at: released }, { ...undated, released_at: null }));
    expect(bench.team.principal().userId).not.toBe(importer.userId);
    const rows = await bench.db.database.query(
      `SELECT v.version, v.status, v.released_by AS by, v.released_at = $3::timestamptz AS kept,
              v.released_at = v.created_at AS "countsFromImport"
         FROM unnest($2::text[]) WITH ORDINALITY AS asked(name, place)
         JOIN templates t ON t.workspace_id = $1 AND t.name = asked.name
         JOIN template_versions v ON v.template_id = t.id ORDER BY asked.place`,
      [elsewhere.id, [carried['id'], undated['id']], released],
    );
    const here = { version: 1, status: 'RELEASED', by: importer.userId };
    expect(rows).toEqual([
      { ...here, kept: true, countsFromImport: false },
      { ...here, kept: false, countsFromImport: true },
    ]);
  });

  it('without a number become the next version, and leave the pointer and the sender alone', async () => {
    const one = await entry();
    await transfer.import(elsewhere.principal(), file(one));
    const sender = await stored(bench.team);
    const next = { ...one, body: 'SELECT 2', version: undefined, body_hash: undefined };
    const report = await transfer.import(elsewhere.principal(), file(next));
    expect(report.templates[0]).toMatchObject({ version: 2, imported: true });
    expect((await bench.reading.read(elsewhere.principal(), String(one['id']))).current_version).toBe(1);
    expect(await stored(bench.team)).toEqual(sender);
  });

  const broken: [string, (good: Entry) => Entry, string, string][] = [
    [
      'a body that was changed',
      (t) => ({ ...t, body: 'SELECT 9' }),
      'template.version.conflict',
      'templates[1].body_hash',
    ],
    [
      'a body that does not parse',
      (t) => ({ ...t, body: '<#if' }),
      'template.validation.syntax_error',
      'templates[1].body',
    ],
    ['no name', ({ id: _id, ...t }) => t, 'template.validation.id_invalid', 'templates[1].id'],
    ['no dialect', ({ dialect: _d, ...t }) => t, 'template.validation.dialect_invalid', 'templates[1].dialect'],
    [
      'a missing library',
      (t) => ({ ...t, version: undefined, body_hash: undefined, imports: [{ id: 'x/y', version: 1, alias: 'L' }] }),
      'template.validation.import_not_found',
      'templates[1].imports[0]',
    ],
    [
      'an unknown field',
      (t) => ({ ...t, colour: 1 }),
      'pipeline.execution.invalid_parameter_type',
      'templates[1].colour',
    ],
  ];
  it.each(broken)('%s refuses the whole file, the good entries with it', async (_, change, code, path) => {
    const [good, bad] = [await entry(), await entry()];
    const before = await stored(elsewhere);
    const error = await refused(good, change(bad));
    expect(failuresOf(error).map((failure) => [failure.code, failure.path])).toEqual([[code, path]]);
    expect(await stored(elsewhere)).toEqual(before);
  });

  it('names a number that is taken by another content, with both hashes', async () => {
    const one = await entry();
    const other = await entry({ body: 'SELECT 3' });
    await transfer.import(elsewhere.principal(), file(one));
    const error = await refused({ ...other, id: one['id'] });
    expect([error.code, error.status]).toEqual(['template.version.conflict', 409]);
    expect(error.details).toMatchObject({ body_hash: other['body_hash'], current_status: 'RELEASED' });
  });

  it('may not bring another member than templates, through whichever door', async () => {
    const error = await refusal(transfer.import(elsewhere.principal(), { ...file(), pipelines: [] } as JsonObject));
    expect(error.details).toMatchObject({ field: 'pipelines', reason: 'unknown_field' });
  });

  it('are for promoters and administrators, not for authors', async () => {
    const author = elsewhere.principal({ flags: { promoter: false } });
    expect((await refusal(transfer.import(author, file(await entry())))).code).toBe('auth.role_required');
  });
});
