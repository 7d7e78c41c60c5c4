import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AuditLog } from '#libs/audit';
import { mintKey } from '#libs/identity';
import { newId, SilentLogger, SystemClock, type ApiKeyKind, type Principal } from '#libs/kernel';
import { InvalidationBus, MemoryTransientStore } from '#libs/transient';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { EndpointRegistry } from './endpoint-registry.js';
import { KeyBindingRepository } from './key-binding.repository.js';
import { KeyBindingService } from './key-binding.service.js';

const WORKSPACE = newId();

let db: TestDatabase;
let service: KeyBindingService;
let ann: Principal;
let bob: Principal;

beforeAll(async () => {
  db = await createTestDatabase();
  const { database } = db;
  const bus = new InvalidationBus(new MemoryTransientStore({ maxBytes: 1 << 20 }), new SilentLogger());
  const bindings = new KeyBindingRepository(database);
  const registry = new EndpointRegistry(database, bindings, bus, new SystemClock());
  service = new KeyBindingService(database, bindings, registry, new AuditLog());
  ann = await author();
  await database.execute(`INSERT INTO workspaces (id, name, display_name) VALUES ($1, 'lending', 'Lending')`, [
    WORKSPACE,
  ]);
  bob = await author();
});

beforeEach(async () => {
  await db.database.execute('DELETE FROM endpoint_key_bindings');
  await db.database.execute('DELETE FROM api_keys');
});

afterAll(() => db?.drop());

async function author(): Promise<Principal> {
  const userId = newId();
  const email = `${userId}@example.test`;
  await db.database.execute(
    `INSERT INTO users (id, email, display_name, provider, provider_subject) VALUES ($1, $2, 'A', 'local', $2)`,
    [userId, email],
  );
  return {
    userId,
    email,
    displayName: 'A',
    method: 'session',
    surface: 'session',
    scopes: [],
    superAdmin: false,
    mustChangePassword: false,
    correlationId: newId(),
    workspace: {
      id: WORKSPACE,
      name: 'lending',
      flags: { author: true, promoter: false, admin: false },
      superAdmin: false,
      implicit: false,
    },
  };
}

async function key(owner: Principal, name: string, kind: ApiKeyKind = 'endpoint'): Promise<string> {
  const { id } = mintKey();
  await db.database.execute(
    `INSERT INTO api_keys (id, user_id, workspace_id, name, key_hash, kind) VALUES ($1, $2, $3, $4, 'h', $5)`,
    [id, owner.userId, WORKSPACE, name, kind],
  );
  return id;
}

const bound = async () =>
  (await service.list(ann)).map(({ path_prefix, api_key_id }) => `${path_prefix} ${api_key_id}`);
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error: unknown) => (error as { code: string }).code,
  );

describe('key bindings', () => {
  it('a revoked key can be unbound: its row still decides, and would close the node for ever', async () => {
    const id = await key(ann, 'partner');
    await service.bind(ann, { pathPrefix: '/', apiKeyId: id });
    await db.database.execute('UPDATE api_keys SET is_revoked = TRUE');
    expect(await bound()).toEqual([`/ ${id}`]);
    expect(await codeOf(service.bind(ann, { pathPrefix: '/', apiKeyId: id }))).toBe('auth.api_key.not_found');
    await service.unbind(ann, { pathPrefix: '/', apiKeyId: id });
    expect(await bound()).toEqual([]);
  });

  it('a name means the endpoint key, whatever younger key of another kind has the same one', async () => {
    const id = await key(ann, 'partner');
    await key(ann, 'partner', 'user');
    await service.bind(ann, { pathPrefix: '/', apiKeyName: 'partner' });
    expect(await bound()).toEqual([`/ ${id}`]);
  });

  it('unbinding by name finds the key that is bound there, not its successor of the same name', async () => {
    const old = await key(ann, 'partner');
    await service.bind(ann, { pathPrefix: '/', apiKeyId: old });
    await db.database.execute('UPDATE api_keys SET is_revoked = TRUE');
    await key(ann, 'partner');
    await service.unbind(ann, { pathPrefix: '/', apiKeyName: 'partner' });
    expect(await bound()).toEqual([]);
  });

  it("another author's key does not exist for an author, and no address names a key by accident", async () => {
    const id = await key(ann, 'partner');
    await service.bind(ann, { pathPrefix: '/', apiKeyId: id });
    for (const address of [{ apiKeyId: id }, { apiKeyName: 'partner' }]) {
      expect(await codeOf(service.bind(bob, { pathPrefix: '/', ...address }))).toBe('auth.api_key.not_found');
      expect(await codeOf(service.unbind(bob, { pathPrefix: '/', ...address }))).toBe('auth.api_key.not_found');
    }
    expect(await codeOf(service.unbind(ann, { pathPrefix: '/' }))).toBe('auth.api_key.not_found');
    expect(await codeOf(service.bind(ann, { pathPrefix: '/elsewhere', apiKeyId: id }))).toBe('endpoint.path_invalid');
    expect(await bound()).toEqual([`/ ${id}`]);
  });
});
