import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApiClient } from '../fixtures/api-client.js';
import { ask } from '../fixtures/graphql.js';
import type { Address } from '../fixtures/matrix-scene.js';
import { VECTORS, type Vector } from '../fixtures/matrix-vectors.js';
import { rpc, toolAnswer } from '../fixtures/mcp.js';
import { MutationScene } from '../fixtures/mutation-scene.js';

/*
 * A UUID in capitals is the same UUID. The database thinks so by itself; caches, loaders and lists of a process compare
 * texts, and would take it for a stranger's.
 */

let scene: MutationScene;
let keeper: ApiClient;
let chief: ApiClient;
let agent: ApiClient;
let loud: Address;

beforeAll(async () => {
  scene = await MutationScene.start();
  const client = (label: string) => scene.matrix.callers.find((each) => each.label === label)?.client as ApiClient;
  [keeper, chief, agent] = [client('ws admin'), client('super admin'), client('author key')];
  const { own } = scene.matrix;
  loud = {
    ...own,
    pipelineId: own.pipelineId.toUpperCase(),
    executionId: own.executionId.toUpperCase(),
    memberId: own.memberId.toUpperCase(),
  };
}, 120_000);
afterAll(() => scene?.stop());

const quiet = (text: string): string => text.replace(/"(correlation_id|exported_at)":"[^"]*"/g, '');

describe('an id in capitals', () => {
  const reads = Object.entries(VECTORS).filter(
    ([name]) => /^GET .*\/:(id|userId)/.test(name) && !name.includes('docs'),
  );
  it.each(reads)('%s: is answered like the id itself', async (_name, vector: Vector) => {
    const answers = [];
    for (const at of [scene.matrix.own, loud]) {
      const { path, headers } = vector.request(at, scene.matrix, { client: chief } as never);
      const answer = await chief.call('GET', path, undefined, { headers });
      expect(answer.status).toBeLessThan(500);
      answers.push([answer.status, quiet(answer.text)]);
    }
    expect(answers[1]).toEqual(answers[0]);
  });

  it('finds the same rows through GraphQL, whose loaders compare texts', async () => {
    const query = `query($pipeline: ID!, $execution: ID!, $user: ID!) {
      pipeline(id: $pipeline) { id name }
      execution(id: $execution) { id }
      user(id: $user) { id email }
    }`;
    const { pipelineId, executionId, memberId } = loud;
    const answer = await ask(chief, query, { pipeline: pipelineId, execution: executionId, user: memberId });
    expect(answer.body.errors).toBeUndefined();
    const { own } = scene.matrix;
    expect(answer.body.data).toMatchObject({
      pipeline: { id: own.pipelineId },
      execution: { id: own.executionId },
      user: { id: own.memberId },
    });
  });

  it('is the caller himself, who cannot be erased or demoted under another spelling', async () => {
    const id = String((await chief.data('GET', '/api/v1/auth/me')).user_id).toUpperCase();
    const erased = await chief.call('POST', `/api/v1/auth/users/${id}/erase`);
    expect(erased.body.error).toMatchObject({ details: { field: 'id', reason: 'self' } });
    const input = { input: { id } };
    const asked = await ask(chief, 'mutation($input: UserIdInput!) { eraseUser(input: $input) { __typename } }', input);
    expect(asked.body.errors[0].extensions.details).toMatchObject({ field: 'id', reason: 'self' });
    expect((await chief.call('GET', '/api/v1/auth/me')).status).toBe(200);
  });

  it('reaches a member in the list of members, and a pipeline by a tool', async () => {
    const { own } = scene.matrix;
    const member = `/api/v1/workspaces/own/members/${loud.memberId}`;
    expect((await keeper.call('PUT', member, { admin: true })).body.data).toMatchObject({ user_id: own.memberId });
    const params = { name: 'pipelines_get', arguments: { id: loud.pipelineId } };
    expect(toolAnswer(await rpc(agent, 'tools/call', params)).value).toMatchObject({ id: own.pipelineId });
  });
});
