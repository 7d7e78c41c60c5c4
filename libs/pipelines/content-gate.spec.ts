import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfiguration } from '#libs/kernel';
import { TemplateAuthoring } from '#libs/templates';
import { createWorkspace, type TestWorkspace } from '../../test/fixtures/authors.js';
import {
  authoringInstance,
  createDatasource,
  document,
  type AuthoringInstance,
} from '../../test/fixtures/pipelines.js';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { ContentGate } from './content-gate.js';
import { PipelineAuthoring } from './pipeline-authoring.js';

let db: TestDatabase;
let team: TestWorkspace;
let instance: AuthoringInstance;

beforeAll(async () => {
  db = await createTestDatabase();
  team = await createWorkspace(db.database);
  instance = await authoringInstance(db.database);
}, 60_000);
afterAll(async () => {
  await instance.close();
  await db.drop();
});

const problems = (environment = {}) => new ContentGate(db.database, loadConfiguration(environment)).problems();

describe('the gate before a start', () => {
  it('names every stored template name outside the grammar, because a render would refuse it later', async () => {
    expect(await problems()).toEqual([]);
    for (const name of [
      'flat.sql',
      'Upper/case',
      `a/${'b'.repeat(65)}`,
      `${'a'.repeat(64)}/${'b'.repeat(64)}/${'c'.repeat(64)}/dddddddd`,
    ]) {
      await db.database.execute(
        `INSERT INTO templates (workspace_id, name, display_name, created_by) VALUES ($1, $2, 'x', $3)`,
        [team.id, name, team.principal().userId],
      );
    }
    const found = await problems();
    expect(found).toHaveLength(4);
    expect(found.join()).toContain('"flat.sql"');
    await db.database.execute('DELETE FROM templates');
  });

  it('names every draft where authoring is disabled, and none where it is enabled', async () => {
    await createDatasource(db.database, team, 'pg');
    const template = { id: 't/a.sql', dialect: 'POSTGRES', display_name: 'a', description: '', body: 'SELECT 1' };
    await instance.get(TemplateAuthoring).create(team.principal(), template);
    const nodes = [{ id: 'n', type: 'DQL', source: 'pg', template: { id: 't/a.sql', version: 1 } }];
    await instance.get(PipelineAuthoring).create(team.principal(), document({ name: 'a/p', nodes }));
    expect(await problems()).toEqual([]);
    expect(await problems({ DATAPIPELINES_DEPLOYMENT_AUTHORING_ENABLED: 'false' })).toEqual([
      expect.stringContaining(`pipeline "a/p" version 1 of workspace "${team.name}"`),
      expect.stringContaining(`template "t/a.sql" version 1 of workspace "${team.name}"`),
    ]);
  });
});
