import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ApiClient } from '../fixtures/api-client.js';
import { releasedPipeline, releasedTemplate } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { data } from '../fixtures/graphql.js';
import { describeWithProgram } from '../fixtures/programs.js';

describeWithProgram('redis-server', 'calculators over HTTP', (redis) => {
  let deployment: Deployment;
  let author: ApiClient;
  let pipelineId: string;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis });
    author = deployment.author;
    await releasedTemplate(author, {
      id: 'calc/bounds.sql',
      dialect: 'DUCKDB',
      body: 'SELECT :first AS a, :last AS b, typeof(:first) AS t',
    });
    pipelineId = await releasedPipeline(author, {
      name: 'calc/week',
      display_name: 'Week',
      description: '',
      parameters: { day: { type: 'DATE', required: true } },
      nodes: [
        {
          id: 'week',
          type: 'CALCULATOR',
          kind: 'period_bounds',
          inputs: { date: '$day', unit: 'week', week_start: '$org_week_start' },
          context_keys: { start: 'first', end: 'last' },
        },
        {
          id: 'out',
          type: 'DQL',
          source: 'tempdb',
          template: { id: 'calc/bounds.sql', version: 1 },
          depends_on: ['week'],
        },
      ],
    });
  }, 120_000);

  afterAll(() => deployment?.stop());

  it('are listed and shown one by one, with examples that a save accepts', async () => {
    const { calculators } = await author.data('GET', '/api/v1/calculators');
    expect(calculators.length).toBe(25);
    for (const { kind, examples } of calculators) {
      expect(await author.data('GET', `/api/v1/calculators/${kind}`)).toMatchObject({ kind });
      for (const { node } of examples) {
        const body = { name: 'calc/example', display_name: 'x', description: '', parameters: {}, nodes: [node] };
        expect([kind, await author.data('POST', '/api/v1/pipelines/validate', body)]).toMatchObject([
          kind,
          { valid: true, failures: [] },
        ]);
      }
    }
    const unknown = await author.call('GET', '/api/v1/calculators/rounds');
    expect([unknown.status, unknown.body?.error.code]).toEqual([404, 'request.not_found']);
  });

  it('stand among what an execute request may carry, told apart from declared parameters', async () => {
    const { inputs } = await author.data('GET', `/api/v1/pipelines/${pipelineId}`);
    expect(inputs).toMatchObject([
      { name: 'day', type: 'DATE', derived: false },
      { name: expect.any(String), type: 'DATE', required: false, derived: true },
      { name: expect.any(String), type: 'DATE', required: false, derived: true },
    ]);
    expect(inputs.map(({ name }: { name: string }) => name).sort()).toEqual(['day', 'first', 'last']);
    const first = inputs.find(({ name }: { name: string }) => name === 'first');
    expect(first.description).toBe('Computed by "week" (period_bounds) unless it is given, together with last.');
    const query = 'query($id: ID!) { pipeline(id: $id) { working { parameters { name type derived required } } } }';
    const { pipeline } = await data(author, query, { id: pipelineId });
    expect(pipeline.working.parameters).toEqual(
      inputs.map(({ name, type, derived, required }: Record<string, unknown>) => ({ name, type, derived, required })),
    );
  });

  it('compute in a run, and step back for values that the caller brings', async () => {
    const execute = async (parameters: object) =>
      author.call('POST', `/api/v1/pipelines/${pipelineId}/execute`, { parameters });
    const computed = await execute({ day: '2026-03-04' });
    expect(computed.text).toContain('["2026-03-02","2026-03-08","DATE"]');
    const brought = await execute({ day: '2026-03-04', first: '2020-01-01', last: '2020-01-02' });
    expect(brought.text).toContain('["2020-01-01","2020-01-02","DATE"]');
    const half = await execute({ day: '2026-03-04', first: '2020-01-01' });
    expect([half.status, half.body?.error.code]).toEqual([400, 'pipeline.execution.calculator_keys_partial']);
    expect(half.body?.error.details).toMatchObject({ node: 'week', supplied: ['first'], missing: ['last'] });
  });

  it('may be published, and take their values from the query', async () => {
    await author.data('POST', '/api/v1/endpoints', { path: '/calc/week', pipeline: 'calc/week' });
    const { key } = await deployment.admin.data('POST', '/api/v1/auth/api-keys', {
      name: 'week',
      kind: 'endpoint',
      bindings: ['/calc'],
    });
    const call = async (query: string) => {
      const response = await fetch(`${deployment.server.baseUrl}/api/x/calc/week?${query}`, {
        headers: { 'DP-API-Key': key as string },
      });
      return { status: response.status, text: await response.text() };
    };
    expect(await call('day=2026-03-04')).toMatchObject({ status: 200, text: expect.stringContaining('"2026-03-08"') });
    expect(await call('day=2026-03-04&first=2020-01-01&last=2020-01-02')).toMatchObject({
      status: 200,
      text: expect.stringContaining('"2020-01-02"'),
    });
    expect(await call('day=2026-03-04&last=2020-01-02')).toMatchObject({
      status: 400,
      text: expect.stringContaining('pipeline.execution.calculator_keys_partial'),
    });
  });
});
