import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { ApiClient, type Answer } from '../fixtures/api-client.js';
import { releasedTemplate } from '../fixtures/authoring.js';
import { eventually } from '../fixtures/eventually.js';
import { data } from '../fixtures/graphql.js';
import { datasourceBody } from '../fixtures/matrix-documents.js';
import { root } from '../fixtures/keeper-state.js';
import { addPerson, emailOf, PASSWORD } from '../fixtures/people.js';
import { PromotionScene } from '../fixtures/promotion-scene.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { errorOf } from '../fixtures/refusals.js';

const execFileAsync = promisify(execFile);

interface Refused {
  status: number;
  code: string;
  details: { failures: { code: string; path: string }[]; datasources?: string[]; keys?: string[] };
}

describeWithProgram('redis-server', 'promotion from one deployment to the next', (redis) => {
  let scene: PromotionScene;
  let callerKey: string;

  beforeAll(async () => {
    scene = await PromotionScene.start(redis, { source: { DATAPIPELINES_DEPLOYMENT_PROMOTION_TIMEOUT_SECONDS: '4' } });
    callerKey = (await scene.keeper.data('POST', '/api/v1/auth/api-keys', { name: 'caller', scopes: ['execute'] })).key;
  }, 90_000);
  afterAll(async () => {
    await scene?.stop();
  });

  const promote = (ids: string[]): Promise<Answer> =>
    scene.author.call('POST', '/promotion/promote', { pipeline_ids: ids });
  const candidates = async () => (await scene.author.data('GET', '/promotion')).candidates;
  const candidate = async (name: string) => (await candidates()).find((row: { name: string }) => row.name === name);
  /** A refusal that left the target as it was: its code, and of which rows. */
  const refused = async (ids: string[]) => {
    const before = await scene.counts();
    const answer = await promote(ids);
    expect(await scene.counts()).toEqual(before);
    return { status: answer.status, ...errorOf(answer) } as Refused;
  };
  const served = (path: string) =>
    ApiClient.withKey(scene.target.server.baseUrl, callerKey).call('GET', `/api/x${path}`);

  async function next(id: string, change: object): Promise<void> {
    const { body_hash, version: _version, ...read } = await scene.author.data('GET', `/api/v1/pipelines/${id}`);
    const headers = { 'If-Match': body_hash };
    const draft = await scene.author.data('PUT', `/api/v1/pipelines/${id}`, { ...read, ...change }, { headers });
    await scene.author.data('POST', `/api/v1/pipelines/${id}/release`, undefined, { headers: { 'If-Match': draft.body_hash } });
  } // prettier-ignore

  it('is done as the document says, pasted into a shell', async () => {
    await scene.released('guide/one');
    await addPerson(scene.source, 'promoter', { memberships: { default: { promoter: true } } });
    const guide = readFileSync(join(root, 'docs/promotion.md'), 'utf8');
    const blocks = [...guide.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1] ?? '');
    expect(blocks).toHaveLength(4);
    const env = {
      ...{ PATH: process.env['PATH'] ?? '', TMPDIR: scene.source.files, BASE: scene.source.server.baseUrl },
      ...{ EMAIL: emailOf('promoter'), PASSWORD, WORKSPACE: 'default' },
    };
    const { stdout } = await execFileAsync('bash', ['--norc', '-euo', 'pipefail', '-c', blocks.join('\n')], { env });
    expect(stdout).toContain('"imported":true,"switched":true');
    expect(stdout.trimEnd().split('\n').at(-1)).toContain('"pipelines":[]');
  });

  it('sends a tree with its endpoint and bound key, and the endpoint answers there at once, out of the data there', async () => {
    await scene.released('tree/child');
    const call = { id: 'call', type: 'PIPELINE', pipeline: { name: 'tree/child', version: 1 } };
    const parent = await scene.released('tree/parent', { nodes: [{ ...call, output: { target: 'tempdb', table: 'c' } }] });
    await scene.author.data('POST', '/api/v1/endpoints', { path: '/tree', pipeline: parent });
    for (const keeper of [scene.author, scene.keeper]) {
      const { key } = await keeper.data('POST', '/api/v1/auth/api-keys', { name: 'täglich 📅', kind: 'endpoint' });
      if (keeper === scene.keeper) callerKey = key;
    }
    await scene.author.data('POST', '/api/v1/endpoints/bindings', { path_prefix: '/tree', api_key_name: 'täglich 📅' });

    const row = await candidate('tree/parent');
    expect([String(row.version), String(row.target_version), row.target_body_hash, row.refusals]).toEqual(['1', '0', null, []]);
    const report = (await promote([parent])).body.data;
    const templates = report.templates.map(({ name }: { name: string }) => name);
    expect(templates.slice(0, 2).sort()).toEqual(['tree/child/lib', 'tree/parent/lib']);
    expect(templates.slice(2).sort()).toEqual(['tree/child/sql', 'tree/parent/sql']);
    expect(report.pipelines.map(({ name, imported }: { name: string; imported: boolean }) => [name, imported])).toEqual([['tree/child', true], ['tree/parent', true]]);
    expect(report.endpoints).toEqual([{ path: '/tree', pipeline: 'tree/parent', changed: true }]);
    const rows = await served('/tree');
    expect([rows.status, rows.text]).toEqual([200, expect.stringContaining('target')]);
    expect(await candidate('tree/parent')).toBeUndefined();
  }); // prettier-ignore

  it('sends nothing again of what stands there, and only what changed of a newer release, which then serves', async () => {
    const id = await scene.released('again/one');
    await scene.author.data('POST', '/api/v1/endpoints', { path: '/again', pipeline: id });
    await promote([id]);
    const before = await scene.counts();
    const again = await promote([id]);
    expect(again.body.data).toMatchObject({ templates: [], pipelines: [], endpoints: [] });
    expect(String(again.body.data.skipped)).toBe('4');
    expect(await scene.counts()).toEqual(before);
    await next(id, { description: 'zweite Fassung' });
    const report = (await promote([id])).body.data;
    expect([report.templates, report.pipelines.length, report.pipelines[0].switched]).toEqual([[], 1, true]);
    expect((await scene.keeper.data('GET', `/api/v1/pipelines/${id}`)).description).toBe('zweite Fassung');
  });

  it('goes over GraphQL as well, with the same answer', async () => {
    const id = await scene.released('graph/one');
    const { promotionCandidates } = await data(scene.author, '{ promotionCandidates }');
    expect(promotionCandidates.candidates.map(({ name }: { name: string }) => name)).toContain('graph/one');
    const query = `mutation($input: PromoteInput!) { promote(input: $input) {
      workspace deployment skipped pipelines { name version imported switched } templates { name } endpoints { path } } }`;
    const { promote: report } = await data(scene.author, query, { input: { pipelineIds: [id] } });
    expect(report).toMatchObject({ workspace: 'default', deployment: 'prod', endpoints: [] });
    expect(report.pipelines).toEqual([expect.objectContaining({ name: 'graph/one', imported: true, switched: true })]);
  });

  it('refuses before anything is sent, naming every problem of every row at once', async () => {
    await scene.author.data('POST', '/api/v1/datasources', datasourceBody(scene.warehouses.source, 'only-here'));
    await releasedTemplate(scene.author, { id: 'lacks/sql', dialect: 'POSTGRES', body: 'SELECT 1 AS n' });
    const other = { id: 'more', type: 'DQL', source: 'only-here', template: { id: 'lacks/sql', version: 1 } };
    const lacks = await scene.released('lacks/one', { nodes: [{ ...other, output: { target: 'tempdb', table: 'm' } }] });
    await scene.author.data('POST', '/api/v1/endpoints', { path: '/lacks', pipeline: lacks });
    await scene.author.data('POST', '/api/v1/auth/api-keys', { name: 'nur hier', kind: 'endpoint' });
    await scene.author.data('POST', '/api/v1/endpoints/bindings', { path_prefix: '/lacks', api_key_name: 'nur hier' });
    const draft = await scene.author.data('POST', '/api/v1/pipelines', { schema_version: 1, name: 'draft/one', display_name: 'd', description: '', parameters: {}, nodes: [{ ...other, id: 'read', output: { target: 'caller' } }] });
    const older = await scene.released('older/one');
    await promote([older]);
    await next(older, { description: 'two' });
    await promote([older]);
    await scene.author.data('POST', `/api/v1/pipelines/${older}/current`, { version: 1 });

    const error = await refused([lacks, draft.id, older]);
    expect([error.status, error.code]).toEqual([409, 'pipeline.promotion.not_released']);
    expect(error.details.failures.map(({ code, path }) => [code, path])).toEqual([
      ['pipeline.promotion.not_released', 'pipeline_ids[1]'],
      ['pipeline.promotion.missing_datasources', 'pipeline_ids[0]'],
      ['endpoint.promotion.key_missing', 'pipeline_ids[0]'],
      ['pipeline.promotion.not_newer', 'pipeline_ids[2]'],
    ]);
    expect([error.details.datasources, error.details.keys]).toEqual([['only-here'], ['nur hier']]);
    const row = await candidate('lacks/one');
    expect(row.refusals.map(({ code }: { code: string }) => code)).toEqual(['pipeline.promotion.missing_datasources', 'endpoint.promotion.key_missing']);
  }); // prettier-ignore

  it('asks for pipelines: none, a stranger and too many are refused here', async () => {
    expect(await refused([])).toMatchObject({ status: 400, code: 'pipeline.execution.invalid_parameter_type' });
    for (const id of ['00000000-0000-4000-8000-000000000000', 'no id', 'ünïcode']) {
      expect(await refused([id])).toMatchObject({ status: 404, code: 'pipeline.execution.not_found' });
    }
    const many = Array.from({ length: 501 }, (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`);
    expect(await refused(many)).toMatchObject({ status: 400, details: { field: 'pipeline_ids' } });
  });

  it('keeps the code of what the target refuses, such as a check that fails on the data there', async () => {
    const check = { id: 'where', name: 'Where', datasource: 'warehouse', expected: { kind: 'value', value: 1 } };
    const sql = "SELECT count(*) FROM place WHERE name = 'source'";
    const id = await scene.released('checked/one', { checks: [{ ...check, sql }] });
    const error = await refused([id]);
    expect([error.status, error.code]).toEqual([409, 'pipeline.check.failed']);
    expect(error.details).toMatchObject({ checks: [{ pipeline: 'checked/one', id: 'where', verdict: 'fail' }] });
  });

  it('says where nothing is configured that there is no target, and shows no candidates', async () => {
    expect(await scene.keeper.data('GET', '/promotion')).toMatchObject({
      target: null,
      candidates: [],
      source_env: 'prod',
    });
  });

  it('lands one after the other where two people promote the same at once', async () => {
    const id = await scene.released('racing/one');
    const answers = await Promise.all([promote([id]), promote([id])]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const imported = answers.flatMap((answer) => answer.body.data.pipelines).filter((each) => each.imported);
    expect(imported).toHaveLength(1);
  });

  it('is given up in time where the target is slow, arrives all the same, and is found at the next try', async () => {
    const check = { id: 'held', name: 'Held', datasource: 'warehouse', expected: { kind: 'value', value: 1 } };
    const id = await scene.released('slow/one', { checks: [{ ...check, sql: 'SELECT count(*) FROM place' }] });
    const before = await scene.counts();
    const holder = new pg.Client({ connectionString: scene.warehouses.target.url });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE place IN ACCESS EXCLUSIVE MODE');
    const answer = await promote([id]);
    expect([answer.status, errorOf(answer)?.code, errorOf(answer)?.details]).toEqual([
      502,
      'pipeline.promotion.target_unreachable',
      { reason: 'timeout' },
    ]);
    // The check still waits, and no transaction has begun.
    expect(await scene.counts()).toEqual(before);
    await holder.query('ROLLBACK');
    await holder.end();
    await eventually('the push arrives', async () => (await candidate('slow/one')) === undefined);
    expect((await promote([id])).body.data).toMatchObject({ templates: [], pipelines: [] });
  });

  it('leaves nothing behind where the target dies in the middle of a push, and brings all of it at the next try', async () => {
    const id = await scene.released('killed/one');
    await scene.author.data('POST', '/api/v1/endpoints', { path: '/killed', pipeline: id });
    const before = await scene.counts();
    const holder = new pg.Client({ connectionString: scene.target.database.superuserUrl });
    await holder.connect();
    // Versions are written before endpoints: whoever waits here has stored them, and not committed.
    await holder.query('BEGIN; LOCK TABLE published_endpoints IN EXCLUSIVE MODE');
    const sent = promote([id]);
    await eventually('the push waits in its transaction', async () => {
      const { rows } = await holder.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()");
      return rows.length > 0;
    });
    const { server } = scene.target;
    await server.end('SIGKILL');
    await holder.query('ROLLBACK');
    await holder.end();
    const answer = await sent;
    expect([answer.status, errorOf(answer)?.code]).toEqual([502, 'pipeline.promotion.target_unreachable']);
    await eventually('the database has let go', async () => JSON.stringify(await scene.counts()) === JSON.stringify(before));
    await scene.target.addServer({ SERVER_PORT: new URL(server.baseUrl).port });
    const report = (await promote([id])).body.data;
    expect(report.pipelines).toEqual([expect.objectContaining({ name: 'killed/one', imported: true, switched: true })]);
    expect([report.templates.length, report.endpoints.length]).toEqual([2, 1]);
    const secret = scene.key.split('.')[1]!;
    for (const { output } of [...scene.source.servers, ...scene.target.servers]) expect(output).not.toContain(secret);
  }); // prettier-ignore
});
