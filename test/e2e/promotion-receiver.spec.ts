import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { ApiClient } from '../fixtures/api-client.js';
import { keysFault } from '../fixtures/audit-table.js';
import { eventually } from '../fixtures/eventually.js';
import { Checksum } from '../fixtures/matrix-scene.js';
import { PromotionScene, type PushBody } from '../fixtures/promotion-scene.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { errorOf } from '../fixtures/refusals.js';

const PUSH = '/api/v1/promotion/push';
const SHARED = 'given-to-both-deployments-0123456789';

describeWithProgram('redis-server', 'the promotion receiver', (redis) => {
  let scene: PromotionScene;
  let callerKey: string;

  beforeAll(async () => {
    scene = await PromotionScene.start(redis, { target: { DATAPIPELINES_DEPLOYMENT_PROMOTION_SERVER_KEY: SHARED } });
    callerKey = (await scene.keeper.data('POST', '/api/v1/auth/api-keys', { name: 'caller', scopes: ['execute'] })).key;
  }, 90_000);
  afterAll(() => scene?.stop());

  const push = (body: unknown, client = scene.peer) => client.call('POST', PUSH, body);
  const refusal = async (body: unknown) => {
    const before = await scene.counts();
    const answer = await push(body);
    expect(await scene.counts()).toEqual(before);
    return [answer.status, errorOf(answer)?.code];
  };
  const trail = (event: string) =>
    scene.target.metadata<{ key_id: string; user: string; details: string }>(
      `SELECT a.key_id, u.provider AS user, a.details_json::text AS details FROM audit_log a JOIN users u ON u.id = a.user_id
      WHERE a.event = $1 ORDER BY a.id DESC LIMIT 1`,
      [event],
    );
  const rowsAfter = (id: string) =>
    scene.target.metadata<{ event: string; details: Record<string, unknown> }>(
      'SELECT event, details_json AS details FROM audit_log WHERE id > $1 ORDER BY id',
      [id],
    );
  const lastRow = async () =>
    (await scene.target.metadata<{ id: string }>('SELECT max(id)::text AS id FROM audit_log'))[0]!.id;
  /** Refusals that the receiver counted instead of writing them down. */
  const leftOut = async () => {
    const scraped = await (await fetch(`${scene.target.server.managementUrl}/metrics`)).text();
    return Number(/^datapipelines_audit_denials_left_out (\d+)$/m.exec(scraped)?.[1]);
  };
  /** A push with its first pipeline changed. */
  const withFirst = (body: PushBody, change: object): PushBody => ({
    ...body,
    pipelines: body.pipelines.map((each, index) => (index === 0 ? { ...each, ...change } : each)),
  });

  describe('a push', () => {
    it('lands a tree as it stands at its sender: libraries, templates, children, parents, their hashes and numbers', async () => {
    const child = await scene.released('tree/child');
    const parent = await scene.released('tree/parent', {
      nodes: [{ id: 'call', type: 'PIPELINE', pipeline: { name: 'tree/child', version: 1 }, output: { target: 'tempdb', table: 'c' } }],
    });
    const body = await scene.push(parent, child);
    const answer = await push(body);
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"imported":true')]);
    const { pipelines, templates } = answer.body.data;
    expect(pipelines.map(({ name, switched }: Record<string, unknown>) => [name, switched])).toEqual([
      ['tree/child', true],
      ['tree/parent', true],
    ]);
    expect(templates).toHaveLength(4);
    const inventory = await scene.peer.data('GET', '/api/v1/promotion/inventory?workspace=default');
    expect(inventory).toMatchObject({ deployment: 'prod', authoring_enabled: false, workspace: 'default', datasources: ['warehouse'] });
    const sent = body.pipelines.map(({ name, version, body_hash }) => [name, String(version), body_hash]).sort();
    expect(inventory.pipelines.map((each: Record<string, unknown>) => [each['name'], String(each['current_version']), each['body_hash']])).toEqual(sent);
    const rows = await scene.target.metadata(
      `SELECT DISTINCT o.provider AS owner, c.provider AS creator, r.provider AS releaser, v.created_via AS via
         FROM pipelines p JOIN pipeline_versions v ON v.pipeline_id = p.id
         JOIN users o ON o.id = p.owner_id JOIN users c ON c.id = v.created_by JOIN users r ON r.id = v.released_by`,
    );
    expect(rows).toEqual([{ owner: 'system', creator: 'system', releaser: 'system', via: 'session' }]);
  }); // prettier-ignore

    it('is written down with who sent it and the fingerprint of its key, never the key', async () => {
      const [row] = await trail('auth.promotion.accepted');
      expect(row).toMatchObject({ key_id: scene.key.split('.')[0], user: 'system' });
      const { source_env, key_fingerprint, counts, workspace } = JSON.parse(row!.details);
      expect({ source_env, key_fingerprint, counts, workspace }).toEqual({
        source_env: 'dev',
        key_fingerprint: createHash('sha256').update(scene.key).digest('hex'),
        counts: { templates: 4, pipelines: 2, endpoints: 0, skipped: 0 },
        workspace: 'default',
      });
      expect(row!.details).not.toContain(scene.key.split('.')[1]);
    });

    it('is refused without a trace while its row cannot be written, and taken once it can', async () => {
      const body = await scene.push(await scene.released('unwritten/one'));
      const endpoint = { path: '/unwritten', pipeline: 'unwritten/one', timeout_seconds: 30, enabled: true };
      const whole = { ...body, endpoints: [endpoint] };
      const checksum = await Checksum.open(scene.target.database.superuserUrl);
      const before = await checksum.now();
      const mark = await lastRow();
      await scene.target.metadata(
        "ALTER TABLE audit_log ADD CONSTRAINT broken CHECK (event <> 'auth.promotion.accepted') NOT VALID",
      );
      try {
        const refused = await push(whole);
        expect([refused.status, errorOf(refused)?.code]).toEqual([500, 'internal']);
      } finally {
        await scene.target.metadata('ALTER TABLE audit_log DROP CONSTRAINT broken');
      }
      expect(await checksum.now()).toBe(before);
      expect((await rowsAfter(mark)).map(({ event, details }) => [event, details['reason']])).toEqual([
        ['auth.promotion.rejected', 'internal'],
      ]);
      const taken = await push(whole);
      expect([taken.status, taken.text]).toEqual([200, expect.stringContaining('"imported":true')]);
      expect(await checksum.now()).not.toBe(before);
      expect((await rowsAfter(mark)).map(({ event }) => event)).toContain('auth.promotion.accepted');
      await checksum.close();
    });

    it('that comes again changes nothing, so that a lost answer is mended by sending it again', async () => {
      const body = await scene.push(await scene.released('again/one'));
      await push(body);
      const before = await scene.counts();
      const again = await push(body);
      expect(again.body.data.pipelines).toEqual([
        expect.objectContaining({ name: 'again/one', imported: false, switched: false }),
      ]);
      expect(await scene.counts()).toEqual(before);
    });

    it('makes a newer release current, never an older one', async () => {
    const id = await scene.released('newer/one');
    const first = await scene.push(id);
    const { body_hash, version: _v, ...read } = await scene.author.data('GET', `/api/v1/pipelines/${id}`);
    const draft = await scene.author.data('PUT', `/api/v1/pipelines/${id}`, { ...read, description: 'two' }, { headers: { 'If-Match': body_hash } });
    await scene.author.data('POST', `/api/v1/pipelines/${id}/release`, undefined, { headers: { 'If-Match': draft.body_hash } });
    const second = await scene.push(id);
    expect((await push(second)).body.data.pipelines[0]).toMatchObject({ imported: true, switched: true });
    expect((await push(first)).body.data.pipelines[0]).toMatchObject({ imported: true, switched: false });
    const view = await scene.keeper.data('GET', `/api/v1/pipelines/${id}`);
    expect([String(view.current_version), view.description]).toEqual(['2', 'two']);
  }); // prettier-ignore

    it('leaves what serves where it is, for a version that only stands below a parent', async () => {
      const id = await scene.released('below/one');
      await push(await scene.push(id));
      const body = withFirst(await scene.push(id), { current: false });
      expect((await push(body)).body.data.pipelines[0]).toMatchObject({ imported: false, switched: false });
    });

    it('binds keys at the path itself, so that its neighbours stay open to whom they were open', async () => {
    const id = await scene.released('beside/one');
    await scene.keeper.data('POST', '/api/v1/auth/api-keys', { name: 'beside', kind: 'endpoint' });
    const body = await scene.push(id);
    const endpoint = { pipeline: 'beside/one', timeout_seconds: 30, description: '', enabled: true };
    await push({ ...body, endpoints: [{ ...endpoint, path: '/beside/open' }] });
    const bindings = [{ path_prefix: '/', key_name: 'beside' }];
    const bound = { ...body, endpoints: [{ ...endpoint, path: '/beside/bound', bindings }] };
    expect((await push(bound)).body.data.endpoints[0].changed).toBe(true);
    const caller = ApiClient.withKey(scene.target.server.baseUrl, callerKey);
    expect((await caller.call('GET', '/api/x/beside/open')).status).toBe(200);
    expect(errorOf(await caller.call('GET', '/api/x/beside/bound'))?.code).toBe('endpoint.key_not_bound');
    const inventory = await scene.peer.data('GET', '/api/v1/promotion/inventory?workspace=default');
    const row = inventory.endpoints.find(({ path }: { path: string }) => path === '/beside/bound');
    expect(row.bindings).toEqual([{ path_prefix: '/beside/bound', key_name: 'beside' }]);
    expect((await push(bound)).body.data.endpoints[0].changed).toBe(false);
  }); // prettier-ignore

    it('publishes anew what somebody unpublishes in that moment, and writes of no endpoint that is not there', async () => {
    const body = await scene.push(await scene.released('gone/one'));
    const endpoint = { path: '/gone', pipeline: 'gone/one', timeout_seconds: 30, description: '', enabled: true };
    await push({ ...body, endpoints: [endpoint] });
    const unpublisher = new pg.Client(scene.target.database.superuserUrl);
    await unpublisher.connect();
    try {
      await unpublisher.query("BEGIN; DELETE FROM published_endpoints WHERE path_pattern = '/gone'");
      const pushed = push({ ...body, endpoints: [{ ...endpoint, description: 'newer' }] });
      await eventually('the push waits for the row', async () => {
        const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
        return (await scene.target.metadata(waiting)).length > 0;
      });
      await unpublisher.query('COMMIT');
      expect((await pushed).status).toBe(200);
    } finally {
      await unpublisher.end();
    }
    const rows = await scene.target.metadata("SELECT id::text, description FROM published_endpoints WHERE path_pattern = '/gone'");
    expect(rows).toEqual([{ id: expect.any(String), description: 'newer' }]);
    const [row] = await trail('endpoint.published');
    expect(JSON.parse(row!.details)).toMatchObject({ endpoint_id: rows[0]!['id'], path: '/gone' });
  }); // prettier-ignore

    it('serves at once what it publishes, to the keys of the same names', async () => {
    const id = await scene.released('served/one');
    await scene.keeper.data('POST', '/api/v1/auth/api-keys', { name: 'böund 🔑', kind: 'endpoint' });
    const body = await scene.push(id);
    const endpoint = { path: '/served/one', pipeline: 'served/one', timeout_seconds: 30, description: 'naïve', enabled: true };
    const bindings = [{ path_prefix: '/served', key_name: 'böund 🔑' }];
    const answer = await push({ ...body, endpoints: [{ ...endpoint, bindings }] });
    expect(answer.body?.data?.endpoints).toEqual([{ path: '/served/one', pipeline: 'served/one', changed: true }]);
    const closed = await ApiClient.withKey(scene.target.server.baseUrl, callerKey).call('GET', '/api/x/served/one');
    expect([closed.status, errorOf(closed)?.code]).toEqual([403, 'endpoint.key_not_bound']);
    const open = await push({ ...body, endpoints: [{ ...endpoint, path: '/open/one' }] });
    expect(open.status).toBe(200);
    const rows = await ApiClient.withKey(scene.target.server.baseUrl, callerKey).call('GET', '/api/x/open/one');
    expect([rows.status, rows.text]).toEqual([200, expect.stringContaining('target')]);
    const again = await push({ ...body, endpoints: [{ ...endpoint, bindings }] });
    expect(again.body.data.endpoints[0].changed).toBe(false);
  }); // prettier-ignore
  });

  describe('a push that is refused stores nothing', () => {
    let body: PushBody;
    beforeAll(async () => {
      body = await scene.push(await scene.released('refused/one'));
    });

    const cases: [what: string, change: (body: PushBody) => unknown, status: number, code: string][] = [
    ['a body that was changed on the way', (b) => withFirst(b, { description: 'x' }), 400, 'pipeline.import.hash_mismatch'],
    ['a template that was changed on the way', (b) => ({ ...b, templates: b.templates.map((t) => (t['is_library'] ? { ...t, body: '<#macro cols>1</#macro>' } : t)) }), 409, 'template.version.conflict'],
    ['a draft', (b) => withFirst(b, { status: 'DRAFT' }), 409, 'pipeline.promotion.not_released'],
    ['no number', (b) => withFirst(b, { version: undefined, body_hash: undefined }), 400, 'pipeline.execution.invalid_parameter_type'],
    ['no id', (b) => withFirst(b, { id: undefined }), 400, 'pipeline.execution.invalid_parameter_type'],
    ['the same version twice', (b) => ({ ...b, pipelines: [...b.pipelines, ...b.pipelines] }), 400, 'pipeline.execution.invalid_parameter_type'],
    ['a template that nobody sent', (b) => ({ ...b, templates: [] }), 400, 'pipeline.import.missing_template'],
    ['a workspace that is not the pin of the key', (b) => ({ ...b, workspace: 'demo' }), 404, 'workspace.not_found'],
    ['a workspace that never was', (b) => ({ ...b, workspace: 'Nöwhere 🏜' }), 404, 'workspace.not_found'],
    ['no workspace', (b) => ({ ...b, workspace: undefined }), 400, 'pipeline.execution.invalid_parameter_type'],
    ['a member of another protocol', (b) => ({ ...b, users: [] }), 400, 'pipeline.execution.invalid_parameter_type'],
    ['lists that are none', (b) => ({ ...b, pipelines: 7 }), 400, 'pipeline.execution.invalid_parameter_type'],
    ['entries that are none', (b) => ({ ...b, pipelines: [null] }), 400, 'pipeline.execution.invalid_parameter_type'],
    ['an endpoint without a pipeline', (b) => ({ ...b, endpoints: [{ path: '/a', timeout_seconds: 1 }] }), 400, 'pipeline.execution.invalid_parameter_type'],
    ['an endpoint of a pipeline that is not here', (b) => ({ ...b, endpoints: [{ path: '/a', pipeline: 'no/where', timeout_seconds: 9 }] }), 404, 'pipeline.execution.not_found'],
    ['an endpoint at a path that is none', (b) => ({ ...b, endpoints: [{ path: 'A b', pipeline: 'refused/one', timeout_seconds: 9 }] }), 400, 'endpoint.path_invalid'],
    ['a key at a node that is not above its endpoint', (b) => ({ ...b, endpoints: [{ path: '/a', pipeline: 'refused/one', timeout_seconds: 9, bindings: [{ path_prefix: '/other', key_name: 'k' }] }] }), 400, 'endpoint.path_invalid'],
    ['an endpoint whose variable nobody declares', (b) => ({ ...b, endpoints: [{ path: '/a/{x}', pipeline: 'refused/one', timeout_seconds: 9 }] }), 400, 'endpoint.path_variable_unknown'],
    ['more entries than one push may bring', (b) => ({ ...b, pipelines: Array(501).fill(b.pipelines[0]) }), 400, 'pipeline.execution.invalid_parameter_type'],
    ['a list where an object belongs', () => [], 400, 'pipeline.execution.invalid_parameter_type'],
  ]; // prettier-ignore

    it.each(cases)('%s', async (_what, change, status, code) => {
      expect(await refusal(change(body))).toEqual([status, code]);
    });

    it('names every key that is missing, and leaves a row that says why and from where', async () => {
    const bindings = ['one', 'twö'].map((name) => ({ path_prefix: '/a', key_name: name }));
    const endpoint = { path: '/a', pipeline: 'refused/one', timeout_seconds: 9, bindings };
    const before = await scene.counts();
    const answer = await push({ ...body, endpoints: [endpoint] });
    expect([answer.status, errorOf(answer)?.code]).toEqual([409, 'endpoint.promotion.key_missing']);
    expect(errorOf(answer)?.details).toMatchObject({ keys: ['one', 'twö'] });
    expect(await scene.counts()).toEqual(before);
    const [row] = await trail('auth.promotion.rejected');
    expect(JSON.parse(row!.details)).toMatchObject({ path: PUSH, reason: 'endpoint.promotion.key_missing', source_env: 'dev', key_fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) });
  }); // prettier-ignore

    it('fills no trail: sixty rows a minute for its key, whole ones, and the others are counted', async () => {
      const { key } = await scene.keeper.data('POST', '/api/v1/auth/api-keys', { name: 'flooding', kind: 'server' });
      const flooding = ApiClient.withPromotionKey(scene.target.server.baseUrl, key);
      const before = await leftOut();
      for (let n = 0; n < 61; n++) {
        expect((await push({ ...body, workspace: 'demo' }, flooding)).status).toBe(404);
      }
      const rows = await scene.target.metadata<{ details: object }>(
        "SELECT details_json AS details FROM audit_log WHERE event = 'auth.promotion.rejected' AND key_id = $1",
        [key.split('.')[0]],
      );
      const key_fingerprint = createHash('sha256').update(key).digest('hex');
      const whole = { path: PUSH, reason: 'workspace.not_found', source_env: 'dev', key_fingerprint };
      expect(rows.map(({ details }) => details)).toEqual(Array(60).fill(expect.objectContaining(whole)));
      expect((await leftOut()) - before).toBe(1);
    });

    it('names a number that is taken by another content, before any check runs', async () => {
      const id = await scene.released('taken/one');
      const first = await scene.push(id);
      await push(first);
      const other = await scene.push(await scene.released('taken/two'));
      const clash = withFirst(other, { id });
      expect(await refusal(clash)).toEqual([409, 'pipeline.import.version_conflict']);
    });

    it('runs the checks of its pipelines on the data of its own deployment, and keeps no run', async () => {
      const check = {
        ...{ id: 'where', name: 'Where', datasource: 'warehouse' },
        ...{ sql: "SELECT count(*) FROM place WHERE name = 'source'", expected: { kind: 'value', value: 1 } },
      };
      const failing = await scene.push(await scene.released('checked/source', { checks: [check] }));
      const before = await scene.counts();
      const answer = await push(failing);
      expect([answer.status, errorOf(answer)?.code]).toEqual([409, 'pipeline.check.failed']);
      expect(errorOf(answer)?.details).toMatchObject({
        checks: [{ pipeline: 'checked/source', id: 'where', observed: '0', verdict: 'fail' }],
      });
      expect(await scene.counts()).toEqual(before);
    });

    it('is refused where people write', async () => {
      const { key } = await scene.author.data('POST', '/api/v1/auth/api-keys', { name: 'k', kind: 'server' });
      const answer = await push(body, ApiClient.withPromotionKey(scene.source.server.baseUrl, key));
      expect([answer.status, errorOf(answer)?.code]).toEqual([409, 'pipeline.promotion.target_is_authoring']);
      expect(scene.source.server.output).toContain('promotion.refused_where_authored');
    });

    it('does not take a body over the limit of imports', async () => {
      const huge = await push({ ...body, templates: [{ body: 'x'.repeat(34_000_000) }] });
      expect([huge.status, errorOf(huge)?.code]).toEqual([413, 'request.body_too_large']);
    });
  });

  describe('the shared key', () => {
    it('reaches every active workspace, by name, and no other', async () => {
      const shared = ApiClient.withPromotionKey(scene.target.server.baseUrl, SHARED);
      const { admin } = scene.target;
      await admin.data('POST', '/api/v1/workspaces', { name: 'second' });
      // A key of another workspace is none here, whatever it is called.
      await admin.in('second').data('POST', '/api/v1/auth/api-keys', { name: 'of the second', kind: 'endpoint' });
      const bindings = [{ path_prefix: '/b', key_name: 'of the second' }];
      const body = await scene.push(await scene.released('second/one'));
      const endpoint = { path: '/b', pipeline: 'second/one', timeout_seconds: 9, bindings };
      const answer = await push({ ...body, endpoints: [endpoint] });
      expect(errorOf(answer)?.details).toMatchObject({ keys: ['of the second'] });
      const read = async (name: string) => {
        const answer = await shared.call('GET', `/api/v1/promotion/inventory?workspace=${name}`);
        return [answer.status, errorOf(answer)?.code ?? answer.body.data.workspace];
      };
      expect(await read('second')).toEqual([200, 'second']);
      expect(await read('default')).toEqual([200, 'default']);
      await admin.data('POST', '/api/v1/workspaces/second/deactivate');
      for (const name of ['second', 'never', '%F0%9F%8F%9C', '']) {
        expect([name, ...(await read(name))]).toEqual([name, 404, 'workspace.not_found']);
      }
      const pinned = await scene.peer.call('GET', '/api/v1/promotion/inventory?workspace=second');
      expect(errorOf(pinned)?.code).toBe('workspace.not_found');
    });
  });

  describe('two pushes at once', () => {
    it('land one after the other: one brings it, the other finds it', async () => {
      const body = await scene.push(await scene.released('racing/one'));
      const answers = await Promise.all([push(body), push(body), push(body)]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      const imported = answers.map((answer) => answer.body.data.pipelines[0].imported);
      expect(imported.filter(Boolean)).toHaveLength(1);
    });
  });

  describe('the trail of all these pushes', () => {
    it('holds in every row the keys of its event, and no other', async () => {
      const rows = await rowsAfter('0');
      const events = rows.map(({ event }) => event);
      expect(events).toEqual(expect.arrayContaining(['auth.promotion.accepted', 'auth.promotion.rejected']));
      expect(rows.flatMap(({ event, details }) => keysFault(event, details))).toEqual([]);
    });
  });
});
