import { describe, expect, it } from '@jest/globals';
import { usePipelineBench } from '../fixtures/pipeline-bench.js';
import { refusal } from '../fixtures/pipelines.js';
import { codesOf } from '../fixtures/template-bench.js';

const bench = usePipelineBench();

describe('what is seldom refused or warned of', () => {
  it('a template never changes its type', async () => {
    const made = await bench.templates.create(bench.team.principal(), {
      id: 't/typed.sql',
      dialect: 'POSTGRES',
      display_name: 'T',
      description: '',
      body: 'SELECT 1',
    });
    const error = await refusal(
      bench.templates.update(bench.team.principal(), { id: made.id, type: 'html', body: 'SELECT 2' }, made.body_hash),
    );
    expect(codesOf(error)).toContain('template.validation.type_immutable');
  });

  it('a save with the engine H2 says that DuckDB runs it', async () => {
    const settings = { tempdb: { engine: 'H2' } };
    const made = await bench.authoring.create(bench.team.principal(), bench.body({ settings }));
    expect(made.warnings).toMatchObject([
      { code: 'pipeline.warning.tempdb_engine_substituted', path: 'settings.tempdb.engine' },
    ]);
  });
});
