import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readJson, writeJson, type PenstockError } from '#libs/kernel';
import { createWorkspace, type TestWorkspace } from '../../test/fixtures/authors.js';
import { authoringInstance, refusal, type AuthoringInstance } from '../../test/fixtures/pipelines.js';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { TemplateAuthoring } from './template-authoring.js';
import { TemplatePreview, type BoundPreview } from './template-preview.js';

let db: TestDatabase;
let team: TestWorkspace;
let instance: AuthoringInstance;
let preview: TemplatePreview;

beforeAll(async () => {
  db = await createTestDatabase();
  team = await createWorkspace(db.database);
  instance = await authoringInstance(db.database);
  preview = instance.get(TemplatePreview);
}, 60_000);
afterAll(async () => {
  await instance.close();
  await db.drop();
});

let counter = 0;
async function template(body: string, over: Record<string, unknown> = {}): Promise<string> {
  const made = await instance.get(TemplateAuthoring).create(team.principal(), {
    id: `p/t${++counter}.sql`,
    dialect: 'POSTGRES',
    display_name: 't',
    description: '',
    body,
    ...over,
  });
  return made.id;
}

const shown = async (name: string, context: string, mode?: string) =>
  preview.render(team.principal(), { name, context: readJson(context), mode });

describe('the preview of a template', () => {
  it('prints exact numbers, arrays and objects as text; nothing runs', async () => {
    const name = await template('${n} ${big} ${e} <#list xs as x>${x.k}<#sep>,</#list> ${yes?c}');
    const context = '{"n":12.50,"big":12345678901234567890,"e":1.5e3,"xs":[{"k":"a"},{"k":2}],"yes":true}';
    expect(await shown(name, context)).toBe('12.50 12345678901234567890 1500 a,2 true');
    expect(await shown(await template('${a} ${b} ${c}'), '{"a":1e-3,"b":-2.50E+1,"c":0.10}')).toBe('0.001 -25.0 0.10');
  });

  it('shows what would be bound, and warns of spellings a save refuses', async () => {
    const name = await template("SELECT * FROM t WHERE a = :a AND b = '${b}'");
    const bound = (await shown(name, '{"a":7,"b":"x\' OR 1=1"}', 'bound')) as BoundPreview;
    expect(bound.named_sql).toBe('SELECT * FROM t WHERE a = :a AND b = :b');
    expect(bound.sql).toBe('SELECT * FROM t WHERE a = CAST($1 AS int4) AND b = CAST($2 AS text)');
    expect(JSON.parse(writeJson(bound.binds))).toEqual([
      { name: 'b', type: 'STRING', value: "x' OR 1=1", origin: 'parameter' },
      { name: 'a', type: 'INTEGER', value: 7, origin: 'parameter' },
    ]);
    expect(bound.warnings).toMatchObject([
      { details: { parameter: 'b', suggestion: ':b', template_id: name, reason: 'direct' } },
    ]);
  });

  it('names the library a refused spelling stands in', async () => {
    const library = await template('<#macro m>${secret}</#macro>', { is_library: true });
    const name = await template('SELECT <@L.m/>', { imports: [{ id: library, version: 1, alias: 'L' }] });
    const bound = (await shown(name, '{"secret":1}', 'bound')) as BoundPreview;
    expect(bound.warnings).toMatchObject([{ details: { template_id: library, template_version: 1 } }]);
  });

  it.each<[string, Record<string, unknown>, string, string | undefined]>([
    ['no context', {}, 'pipeline.execution.invalid_parameter_type', 'context_missing'],
    ['a context that is no object', { context: [] }, 'pipeline.execution.invalid_parameter_type', 'context_missing'],
    ['another mode', { context: readJson('{}'), mode: 'run' }, 'pipeline.execution.invalid_parameter_type', 'field'],
    [
      'a version that is no number',
      { context: readJson('{}'), version: 'x' },
      'pipeline.execution.invalid_parameter_type',
      'field',
    ],
    ['a version that is not there', { context: readJson('{}'), version: 9 }, 'template.not_found', undefined],
    [
      'an unknown name in it',
      { context: readJson('{}') },
      'pipeline.validation.template_parameter_undeclared',
      undefined,
    ],
  ])('refuses %s', async (_title, over, code, reason) => {
    const name = await template('SELECT ${missing}');
    const error: PenstockError = await refusal(preview.render(team.principal(), { name, ...over }));
    expect([error.code, error.details['reason']]).toEqual([code, reason]);
  });

  it('is for authors, inside their workspace', async () => {
    const name = await template('SELECT 1');
    const viewer = team.principal({ flags: { author: false, promoter: false } });
    expect((await refusal(preview.render(viewer, { name, context: readJson('{}') }))).code).toBe('auth.role_required');
    const foreign = (await createWorkspace(db.database)).principal();
    expect((await refusal(preview.render(foreign, { name, context: readJson('{}') }))).code).toBe('template.not_found');
  });
});
