import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OperationId } from '#libs/identity';
import { DECLARATIONS } from '../../apps/server/mcp/tools/tool-catalogue.js';
import { ApiClient } from '../fixtures/api-client.js';
import { denialFaults, deniedCallers, withoutFloodLimit } from '../fixtures/denial-rows.js';
import { rpc, toolAnswer } from '../fixtures/mcp.js';
import { RESOURCE_VECTORS, TOOL_VECTORS, toolOf, type ToolVector } from '../fixtures/mcp-vectors.js';
import type { Address } from '../fixtures/matrix-scene.js';
import { MutationScene } from '../fixtures/mutation-scene.js';
import { readOperationsTable } from '../fixtures/operations-table.js';
import { errorOf } from '../fixtures/refusals.js';

/*
 * The judges of the matrix of tools, held against a server with one guard taken out of the running process.
 */

const INTERNAL = '-32603';
const NO_RESOURCE = '-32002';
const KEY_LACKS = 'auth.session.required';

let scene: MutationScene;
let agent: ApiClient;

beforeAll(async () => {
  scene = await MutationScene.start();
  agent = scene.matrix.callers.find(({ label }) => label === 'author key')?.client as ApiClient;
}, 120_000);
afterAll(() => scene?.stop());

/** The code of a refusal, by the tool or of the protocol; `done` for a result. */
async function outcome(name: string, vector: ToolVector, at: Address): Promise<string> {
  const params = { name: toolOf(name), arguments: vector.arguments(at, scene.matrix) };
  const { code, rpcError } = toolAnswer(await rpc(agent, 'tools/call', params));
  return rpcError?.code ?? code ?? 'done';
}

async function read(kind: string, at: Address): Promise<string> {
  const { body } = await rpc(agent, 'resources/read', { uri: RESOURCE_VECTORS[kind]?.(at) });
  return body.error === undefined ? 'done' : String(body.error.code);
}

const removes = (name: string): boolean => /_delete$/.test(name);

describe('a workspace predicate that is dropped', () => {
  const addressing = Object.entries(TOOL_VECTORS).filter(([, { absent }]) => absent !== undefined);
  // What is removed without its guard is gone for those that come after.
  addressing.sort(([one], [two]) => Number(removes(one)) - Number(removes(two)));

  it.each(addressing)('shows at %s', async (name, vector) => {
    const foreign = () => outcome(name, vector, scene.matrix.foreign);
    expect(await foreign()).toBe(vector.absent);
    const seen = await scene.withoutPredicates(foreign);
    expect([vector.absent, INTERNAL]).not.toContain(seen);
  });

  it.each(Object.keys(RESOURCE_VECTORS))('shows at the resource, %s', async (kind) => {
    const foreign = () => read(kind, scene.matrix.foreign);
    expect(await foreign()).toBe(NO_RESOURCE);
    expect(await scene.withoutPredicates(foreign)).not.toBe(NO_RESOURCE);
  });
});

describe('the operation of a tool', () => {
  it.each(Object.entries(TOOL_VECTORS))('%s: without it nothing is served', async (name, vector) => {
    const declaration = DECLARATIONS.find((each) => each.name === toolOf(name)) as { operation?: OperationId };
    const { operation } = declaration;
    expect(await outcome(name, vector, scene.matrix.absent)).not.toBe(INTERNAL);
    delete declaration.operation;
    try {
      expect(await outcome(name, vector, scene.matrix.absent)).toBe(INTERNAL);
      // One that no key may do shuts out every key.
      declaration.operation = 'workspace.create';
      expect(await outcome(name, vector, scene.matrix.absent)).toBe(KEY_LACKS);
    } finally {
      declaration.operation = operation as OperationId;
    }
  });
});

describe('a denial', () => {
  const table = readOperationsTable();
  let restore: () => void;
  beforeAll(() => {
    restore = withoutFloodLimit();
  });
  afterAll(() => restore());

  it.each(Object.entries(TOOL_VECTORS))('is written down once in %s, whether the door or a service judged it', async (name, vector) => {
    const asked = [DECLARATIONS.find((each) => each.name === toolOf(name))?.operation ?? ''];
    // What every key is denied that the table admits: a run that it did not launch itself.
    const others = vector.admitted === 'auth.role_required' ? () => ({ status: 200, code: vector.admitted as string }) : vector.narrower;
    const denied = deniedCallers(scene.matrix.callers, table, asked, others);
    const faults = denialFaults(scene.server.test.database, asked, denied, async ({ client }) => {
      const params = { name: toolOf(name), arguments: vector.arguments(scene.matrix.own, scene.matrix) };
      const answer = await rpc(client, 'tools/call', params);
      const error = errorOf(answer);
      return error ? { code: error.code, reason: error.details?.reason } : { code: toolAnswer(answer).code };
    });
    expect(await faults).toEqual([]);
  });
}); // prettier-ignore
