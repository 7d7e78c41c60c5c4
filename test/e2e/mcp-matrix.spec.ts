import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Deployment } from '../fixtures/deployment.js';
import { ApiClient, type Answer } from '../fixtures/api-client.js';
import { governedState } from '../fixtures/governed-state.js';
import { refusalOf, type Caller } from '../fixtures/matrix-callers.js';
import { LAKE_ROOT } from '../fixtures/matrix-documents.js';
import { Checksum, matrixScene, type Address, type MatrixScene } from '../fixtures/matrix-scene.js';
import { mismatches, refusedBy, unnoticedErrors, type Observation } from '../fixtures/matrix-verdicts.js';
import { ACCEPT, rpc, toolAnswer } from '../fixtures/mcp.js';
import { RESOURCE_VECTORS, TOOL_VECTORS, toolOf, type ToolVector } from '../fixtures/mcp-vectors.js';
import { readOperationsTable } from '../fixtures/operations-table.js';
import { addPerson, signIn } from '../fixtures/people.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { errorOf, expectEnvelope } from '../fixtures/refusals.js';

const table = readOperationsTable();
const operationOf = new Map(
  [...table.rows].flatMap(([operation, { tools }]) => tools.map((tool) => [tool, operation] as const)),
);
/** What a tool's result stands for beside REST's statuses. */
const STATUS = 200;

describeWithProgram('redis-server', 'the matrix of tools', (redis) => {
  let deployment: Deployment;
  let scene: MatrixScene;
  let checksum: Checksum;
  let keys: Caller[];
  let governed: Awaited<ReturnType<typeof governedState>>;
  const observations: Observation[] = [];

  beforeAll(async () => {
    deployment = await Deployment.start({ redis, env: { DATAPIPELINES_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '100000', DATAPIPELINES_DATASOURCES_FILE_ROOTS: LAKE_ROOT } });
    scene = await matrixScene(deployment);
    const writer = scene.callers.find(({ label }) => label === 'author')!.client;
    const { key } = await writer.data('POST', '/api/v1/auth/api-keys', { name: 'writer', scopes: ['author'] });
    const client = ApiClient.withKey(deployment.server.baseUrl, key);
    keys = scene.callers.filter(({ kind }) => kind === 'user key');
    keys.push({ label: "an author's key", client, kind: 'user key', role: 'author', scope: 'author' });
    keys.push(await keyOf('climber', { author: true }, { label: "a promoter's key", role: 'promoter' }, { promoter: true }));
    governed = await governedState(deployment);
    checksum = await Checksum.open(deployment.database.superuserUrl);
  }, 120_000);

  afterAll(async () => {
    await checksum?.close();
    const failures = deployment?.server.output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
    await deployment?.stop();
    await scene?.source.drop();
    expect(failures).toEqual([]);
  });

  /** A person's key of scope author; what the person may do afterwards is another matter. */
  async function keyOf(name: string, flags: object, caller: Pick<Caller, 'label' | 'role'>, later: object): Promise<Caller> {
    const { workspace } = scene.own;
    const id = await addPerson(deployment, name, { memberships: { [workspace]: flags } });
    const { key } = await (await signIn(deployment, name)).in(workspace).data('POST', '/api/v1/auth/api-keys', { name, scopes: ['author'] });
    await deployment.admin.in(workspace).data('PUT', `/api/v1/workspaces/${workspace}/members/${id}`, later);
    return { ...caller, client: ApiClient.withKey(deployment.server.baseUrl, key), kind: 'user key', scope: 'author' };
  }

  const call = (name: string, vector: ToolVector, caller: Caller, at: Address): Promise<Answer> =>
    rpc(caller.client, 'tools/call', { name: toolOf(name), arguments: vector.arguments(at, scene) });
  const operationsFor = (name: string): string[] => [operationOf.get(toolOf(name)) as string];

  it('has a vector for every tool that is listed, and none for a tool that is gone', async () => {
    const { body } = await rpc(keys[0]!.client, 'tools/list');
    const listed = body.result.tools.map(({ name }: { name: string }) => name);
    expect([...new Set(Object.keys(TOOL_VECTORS).map(toolOf))].sort()).toEqual([...listed].sort());
  });

  it('lists the same tools for every key, in the same bytes', async () => {
    const lists = await Promise.all(keys.map(async ({ client }) => (await rpc(client, 'tools/list')).text));
    expect(new Set(lists).size).toBe(1);
  });

  it('shuts out everybody but a user key, before any tool is looked at: cookies above all', async () => {
    for (const caller of scene.callers) {
      if (caller.kind === 'user key') continue;
      for (const method of ['tools/list', 'tools/call', 'resources/list', 'initialize']) {
        const answer = await rpc(caller.client, method, { name: 'pipelines_list' });
        const { status, code } = refusalOf(table, 'reference.read', caller) ?? { status: 401, code: 'auth.api_key.missing' };
        expect([caller.label, method, answer.status, errorOf(answer)?.code]).toEqual([caller.label, method, status, code]);
        expectEnvelope(`${caller.label} ${method}`, answer);
      }
    }
  });

  it.each(Object.entries(TOOL_VECTORS))('%s: each key gets what the table says, and denials change nothing', async (name, vector) => {
    const operations = operationsFor(name);
    const denied = keys.filter((caller) => refusedBy(table, operations, caller));
    const before = await checksum.now();
    for (const caller of denied) observations.push(await observe(name, vector, operations, caller, scene.own));
    expect(await checksum.now()).toBe(before);
    for (const caller of keys.filter((each) => !denied.includes(each))) {
      const at = vector.fresh ? await scene.fresh(vector.fresh) : scene.own;
      observations.push(await observe(name, vector, operations, caller, at));
    }
    expect(mismatches(observations.filter((each) => each.door === name), table)).toEqual([]);
  });

  async function observe(name: string, vector: ToolVector, operations: string[], caller: Caller, at: Address): Promise<Observation> {
    const answer = await call(name, vector, caller, at);
    const { status, isError, code, rpcError } = toolAnswer(answer);
    expect([name, caller.label, answer.text.includes('zzforeign')]).toEqual([name, caller.label, false]);
    expect([name, caller.label, rpcError]).toEqual([name, caller.label, undefined]);
    // A refusal has its status in the table; here every answer is 200, and the code alone tells.
    const refused = refusedBy(table, operations, caller);
    const outcome = isError ? { status: code === refused?.code ? refused!.status : status, code } : { status };
    return { door: name, operations, caller, admitted: { status: STATUS, code: vector.admitted }, narrower: vector.narrower, outcome };
  }

  const addressing = Object.entries(TOOL_VECTORS).filter(([, vector]) => vector.absent !== undefined);
  it.each(addressing)('%s: a foreign row is as absent as one that never was', async (name, vector) => {
    const before = await checksum.now();
    for (const caller of keys) {
      if (refusedBy(table, operationsFor(name), caller)) continue;
      const [foreign, absent] = [await call(name, vector, caller, scene.foreign), await call(name, vector, caller, scene.absent)];
      expect([name, caller.label, toolAnswer(foreign).code]).toEqual([name, caller.label, vector.absent]);
      expect([name, caller.label, anonymised(foreign, scene.foreign)]).toEqual([name, caller.label, anonymised(absent, scene.absent)]);
    }
    expect(await checksum.now()).toBe(before);
  });

  it.each(Object.entries(RESOURCE_VECTORS))('resource, %s: read in one’s own workspace, absent in any other', async (kind, uri) => {
    for (const caller of keys) {
      const read = (at: Address) => rpc(caller.client, 'resources/read', { uri: uri(at) });
      const own = await read(scene.own);
      expect([kind, caller.label, own.body.error]).toEqual([kind, caller.label, undefined]);
      const [foreign, absent] = [await read(scene.foreign), await read(scene.absent)];
      expect([kind, String(foreign.body.error?.code)]).toEqual([kind, '-32002']);
      expect(anonymised(foreign, scene.foreign)).toBe(anonymised(absent, scene.absent));
    }
  });

  it('lists resources of one’s own workspace only', async () => {
    for (const caller of keys) {
      const { text, body } = await rpc(caller.client, 'resources/list');
      expect([caller.label, text.includes('zzforeign')]).toEqual([caller.label, false]);
      expect(body.result.resources.some(({ uri }: { uri: string }) => uri.includes('own-pg'))).toBe(true);
    }
  });

  it('a batch is judged call by call', async () => {
    const reader = keys.find(({ label }) => label === 'read key')!.client;
    const calls = ['pipelines_list', 'templates_create', 'datasources_list'].map((name, id) => ({
      jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: name === 'templates_create' ? scene.own.templateBody : {} },
    }));
    const { body } = await reader.call('POST', '/mcp', calls, { headers: ACCEPT });
    expect(body.map(({ result }: { result: { isError: boolean } }) => result.isError)).toEqual([false, true, false]);
  });

  it('after every tool was called by the key of every role, all that people govern is as it was: nothing released, switched, granted, minted, confirmed', async () => {
    // What a call might be taken for, had it another name or one argument more.
    const wishes = ['pipelines_release', 'templates_release', 'pipelines_switch', 'promotion_promote', 'api_keys_create', 'datasources_grant', 'members_add', 'semantics_verify'];
    const more = { status: 'RELEASED', release: true, current_version: 1, promote: true, trust: 'verified', scopes: ['author'], grant: 'foreign', confirmed: true };
    for (const caller of keys) {
      for (const name of wishes) expect([name, toolAnswer(await rpc(caller.client, 'tools/call', { name, arguments: { id: scene.own.pipelineId, version: 1 } })).rpcError?.code]).toEqual([name, '-32602']);
      for (const [name, vector] of Object.entries(TOOL_VECTORS)) {
        if (refusedBy(table, operationsFor(name), caller)) continue;
        const params = { name: toolOf(name), arguments: { ...vector.arguments(scene.own, scene), ...more } };
        expect([name, caller.label, toolAnswer(await rpc(caller.client, 'tools/call', params)).rpcError?.code]).toEqual([name, caller.label, '-32602']);
      }
    }
    const now = await governedState(deployment);
    for (const [name, rows] of Object.entries(governed)) expect([name, now[name]]).toEqual([name, rows]);
    expect([now['pipeline_versions']!.length > 0, now['api_keys']!.length > keys.length - 1]).toEqual([true, true]);
    // And the roles were all there.
    expect(new Set(keys.map(({ role }) => role))).toEqual(new Set(['viewer', 'author', 'promoter', 'ws admin']));
  });

  it('fails when any row of the table is other than what the server does', () => {
    expect(observations.length).toBeGreaterThan(Object.keys(TOOL_VECTORS).length * 3);
    expect(mismatches(observations, table)).toEqual([]);
    // Sessions never come here, so an error in that cell is the REST matrix's to notice.
    expect(unnoticedErrors(observations, table).filter((line) => !/: no (S|E own|V)$/.test(line))).toEqual([]);
  });
}); // prettier-ignore

function anonymised(answer: Answer, at: Address): string {
  const told = [at.pipelineId, at.executionId, at.keyId, at.factId, encodeURIComponent(at.template), at.template, at.datasource, at.endpoint, at.workspace];
  const text = answer.text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '…');
  return told.reduce<string>((shown, value) => shown.replaceAll(String(value), '…'), text);
} // prettier-ignore
