import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { loadConfiguration, SilentLogger, type Configuration } from '#libs/kernel';
import { createTestDatabase, type TestDatabase } from '../../../test/fixtures/postgres.js';
import { openStores } from './stores.js';

class WarningsHeard extends SilentLogger {
  readonly warnings: string[] = [];
  override warn(message = ''): void {
    this.warnings.push(message);
  }
  override child(): this {
    return this;
  }
}

let test: TestDatabase;
beforeEach(async () => {
  test = await createTestDatabase();
});
afterEach(() => test.drop());

/** A configuration of embedded mode, so that no Redis is needed, over the database given. */
function configured(posture: 'development' | 'hardened', url: string): Configuration {
  const plain = loadConfiguration({}).withGenerated({ 'datapipelines.metadata-db.url': url });
  return new Proxy(plain, {
    get: (target, name) =>
      name === 'get'
        ? (key: never) => (key === 'datapipelines.posture' ? posture : target.get(key))
        : (Reflect.get(target, name) as unknown),
  });
}

async function opened(posture: 'development' | 'hardened', url: string): Promise<string[]> {
  const log = new WarningsHeard();
  const stores = await openStores(configured(posture, url), log);
  await Promise.all([stores.database.close(), stores.transient.close()]);
  return log.warnings;
}

describe('the role of the metadata database', () => {
  it('is warned about when it is a superuser, whom no privilege keeps from changing the trail', async () => {
    expect(await opened('development', test.superuserUrl)).toEqual([expect.stringContaining('superuser')]);
    expect(await opened('development', test.url)).toEqual([]);
  });

  it('must not be a superuser when hardened', async () => {
    await expect(opened('hardened', test.superuserUrl)).rejects.toMatchObject({
      message: expect.stringContaining('plain role'),
    });
    expect(await opened('hardened', test.url)).toEqual([]);
  });

  /** Roles are the whole server's: each case has its own, which is gone afterwards. */
  const asOperator = async (...statements: string[]): Promise<void> => {
    const client = new pg.Client({ connectionString: test.superuserUrl });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  };
  const refusal = (held: string) => expect.objectContaining({ message: expect.stringContaining(`it holds ${held}.`) });

  it.each([
    ['the privileges were lost in a restore', 'GRANT ALL ON audit_log, execution_events TO penstock', 'UPDATE ON audit_log, TRUNCATE ON audit_log, UPDATE ON execution_events, TRUNCATE ON execution_events'], // prettier-ignore
    ['everybody may empty one', 'GRANT TRUNCATE ON execution_events TO PUBLIC', 'TRUNCATE ON execution_events'],
    ['a single column may be rewritten', 'GRANT UPDATE (details_json) ON audit_log TO penstock', 'UPDATE ON audit_log'],
  ])('is warned about, and refused when hardened, where %s', async (_, grant, held) => {
    await asOperator(grant);
    expect(await opened('development', test.url)).toEqual([expect.stringContaining(`it holds ${held}. Run as`)]);
    await expect(opened('hardened', test.url)).rejects.toEqual(refusal(held));
    await asOperator('REVOKE UPDATE, TRUNCATE ON audit_log, execution_events FROM "penstock", PUBLIC');
    expect(await opened('hardened', test.url)).toEqual([]);
  });

  it('is judged by what its groups may do, and not by the role that migrated', async () => {
    const name = `runtime_${test.name}`;
    const url = new URL(test.url);
    [url.username, url.password] = [name, 'runtime'];
    await asOperator(
      `CREATE ROLE ${name} LOGIN PASSWORD 'runtime' IN ROLE pg_read_all_data, pg_write_all_data`,
      `GRANT CREATE ON DATABASE ${test.name} TO ${name}`,
      `GRANT USAGE, CREATE ON SCHEMA public, penstock_meta TO ${name}`,
    );
    try {
      const held = 'UPDATE ON audit_log, UPDATE ON execution_events';
      await expect(opened('hardened', url.href)).rejects.toEqual(refusal(held));
      expect(await opened('development', url.href)).toEqual([expect.stringContaining('pg_write_all_data')]);
      await asOperator(`REVOKE pg_write_all_data FROM ${name}`);
      expect(await opened('hardened', url.href)).toEqual([]);
    } finally {
      await asOperator(`DROP OWNED BY ${name}`, `DROP ROLE ${name}`);
    }
  });
});
