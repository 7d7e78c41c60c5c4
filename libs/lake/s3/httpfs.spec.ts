import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { DriverFailure } from '#libs/datasources';

import { lakeOptions } from '../options/lake-options.js';
import { openHttpfs, type HttpfsSettings, type OpenEngine } from './httpfs.js';

describe('an engine that is to read S3 itself', () => {
  let directory: string;
  let ran: string[];
  const engine = {
    run: (statements: readonly string[]) => Promise.resolve(void ran.push(...statements)),
    query: () => Promise.resolve([['v9.9.9', 'plan_9']]),
  };
  const login = { username: 'key', secret: "it's" };
  const options = (more: [string, string][] = []) => lakeOptions(new Map([['region', 'eu-1'], ...more]));
  const open = (settings: Partial<HttpfsSettings>, as = login as { username: string | null; secret: string | null }, more: [string, string][] = []) =>
    openHttpfs(engine, { mode: 'auto', directory, allowInstall: false, ...settings }, options(more), as); // prettier-ignore

  beforeEach(() => {
    ran = [];
    directory = mkdtempSync(join(tmpdir(), 'penstock-extensions-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));
  const withFile = (): string => {
    mkdirSync(join(directory, 'v9.9.9', 'plan_9'), { recursive: true });
    const file = join(directory, 'v9.9.9', 'plan_9', 'httpfs.duckdb_extension');
    writeFileSync(file, '');
    return file;
  };

  it('reads through copies instead where the file of its very version is not there, and loads nothing', async () => {
    mkdirSync(join(directory, 'v9.9.8', 'plan_9'), { recursive: true });
    writeFileSync(join(directory, 'v9.9.8', 'plan_9', 'httpfs.duckdb_extension'), '');
    expect(await open({})).toBe(false);
    expect(await open({ directory: undefined })).toBe(false);
    expect(await open({ mode: 'mirror', allowInstall: true })).toBe(false);
    withFile();
    expect(await open({}, { username: null, secret: null })).toBe(false);
    expect(ran).toEqual([]);
  });

  it('cannot be reached when httpfs alone is allowed and missing: no other way is taken silently', async () => {
    await expect(open({ mode: 'httpfs' })).rejects.toMatchObject({ kind: 'connection', driverCode: 'HTTPFS_ABSENT' });
    await expect(open({ mode: 'httpfs', directory: undefined })).rejects.toThrow(/extension-directory is not set/);
    withFile();
    await expect(open({ mode: 'httpfs' }, { username: null, secret: null })).rejects.toThrow(/credential, or unsigned/);
    expect(ran).toEqual([]);
  });

  it('loads the file by its path, and enters with the datasource\u2019s credential or with none', async () => {
    const file = withFile();
    expect(await open({})).toBe(true);
    expect(ran).toEqual([
      `SET GLOBAL extension_directory = '${directory}'`,
      `LOAD '${file}'`,
      `CREATE SECRET lake (TYPE s3, KEY_ID 'key', SECRET 'it''s', REGION 'eu-1')`,
    ]);
    ran = [];
    await open({}, login, [['unsigned', 'true'], ['endpoint', 'minio:9000']]); // prettier-ignore
    expect(ran[2]).toBe(`CREATE SECRET lake (TYPE s3, REGION 'eu-1', ENDPOINT 'minio:9000', USE_SSL false, URL_STYLE 'path')`);
  }); // prettier-ignore

  it('cannot be reached when httpfs does not load or refuses the credential, each under a code of its own', async () => {
    withFile();
    const failing = (word: string, kind: 'other' | 'cancelled' = 'other') => ({
      ...engine,
      run: (statements: readonly string[]) =>
        statements.some((statement) => statement.startsWith(word))
          ? Promise.reject(new DriverFailure(kind, 'Invalid Input Error: no'))
          : Promise.resolve(),
    });
    const opened = (given: OpenEngine) => openHttpfs(given, { mode: 'auto', directory, allowInstall: false }, options(), login);
    await expect(opened(failing('LOAD'))).rejects.toMatchObject({ kind: 'connection', driverCode: 'HTTPFS_LOAD' });
    await expect(opened(failing('CREATE SECRET'))).rejects.toMatchObject({ kind: 'connection', driverCode: 'HTTPFS_CREDENTIAL' });
    await expect(opened(failing('LOAD', 'cancelled'))).rejects.toMatchObject({ kind: 'cancelled' });
    await expect(open({ mode: 'httpfs' }, { username: null, secret: null })).rejects.toMatchObject({ driverCode: 'HTTPFS_CREDENTIAL' });
  }); // prettier-ignore

  it('addresses buckets as it is told, without an endpoint too', async () => {
    withFile();
    await open({}, login, [['url_style', 'path']]);
    expect(ran[2]).toMatch(/REGION 'eu-1', URL_STYLE 'path'\)$/);
    ran = [];
    await open({}, login, [['url_style', 'vhost'], ['endpoint', 'minio:9000']]); // prettier-ignore
    expect(ran[2]).toMatch(/URL_STYLE 'vhost'\)$/);
  });

  it('downloads it only where that is allowed', async () => {
    expect(await open({ allowInstall: true })).toBe(true);
    expect(ran.slice(1, 3)).toEqual(['INSTALL httpfs', 'LOAD httpfs']);
  });
});
