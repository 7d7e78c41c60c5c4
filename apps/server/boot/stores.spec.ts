import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
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
});
