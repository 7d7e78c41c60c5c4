import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { DriverFailure } from '#libs/datasources';

import { lakeOptions } from '../options/lake-options.js';
import { openHttpfs, type HttpfsSettings, type OpenEngine } from './httpfs.js';
import type { MachineIdentity } from './s3-storage.js';

describe('an engine that is to read S3 itself', () => {
  let directory: string;
  let ran: string[];
  let machine: MachineIdentity | undefined;
  const engine = {
    run: (statements: readonly string[]) => Promise.resolve(void ran.push(...statements)),
    query: () => Promise.resolve([['v9.9.9', 'plan_9']]),
  };
  const login = { username: 'key', secret: "it's" };
  const options = (more: [string, string][] = []) => lakeOptions(new Map([['region', 'eu-1'], ...more]));
  const open = (settings: Partial<HttpfsSettings>, as = login as { username: string | null; secret: string | null }, more: [string, string][] = []) =>
    openHttpfs(engine, { mode: 'auto', directory, allowInstall: false, ...settings }, options(more), as, () => Promise.resolve(machine)); // prettier-ignore

  beforeEach(() => {
    ran = [];
    machine = undefined;
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
    expect(await open({})).toEqual({ validUntil: undefined });
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
    const opened = (given: OpenEngine) => openHttpfs(given, { mode: 'auto', directory, allowInstall: false }, options(), login, () => Promise.resolve(undefined));
    await expect(opened(failing('LOAD'))).rejects.toMatchObject({ kind: 'connection', driverCode: 'HTTPFS_LOAD' });
    await expect(opened(failing('CREATE SECRET'))).rejects.toMatchObject({ kind: 'connection', driverCode: 'HTTPFS_CREDENTIAL' });
    await expect(opened(failing('LOAD', 'cancelled'))).rejects.toMatchObject({ kind: 'cancelled' });
    await expect(open({ mode: 'httpfs' }, { username: null, secret: null })).rejects.toMatchObject({ driverCode: 'HTTPFS_CREDENTIAL' });
  }); // prettier-ignore

  it('enters as this machine where the datasource brings nothing, until that identity ends', async () => {
    withFile();
    machine = { accessKeyId: 'AKIA', secretAccessKey: "s'1", sessionToken: 'tok', validUntil: 1_700_000_000_000 };
    const nothing = { username: null, secret: null };
    expect(await open({ mode: 'httpfs' }, nothing)).toEqual({ validUntil: 1_700_000_000_000 });
    expect(ran[2]).toBe(
      `CREATE SECRET lake (TYPE s3, KEY_ID 'AKIA', SECRET 's''1', SESSION_TOKEN 'tok', REGION 'eu-1')`,
    );
    machine = { ...machine, sessionToken: undefined, validUntil: undefined };
    expect(await open({}, nothing)).toEqual({ validUntil: undefined });
    expect(ran.at(-1)).not.toMatch(/SESSION_TOKEN/);
    // Who is told to enter without a signature does, and who has a credential uses that.
    await open({}, nothing, [['unsigned', 'true']]);
    await open({});
    expect(ran.filter((statement) => statement.includes('AKIA'))).toHaveLength(2);
  });

  it('is read through copies, or cannot be reached, where this machine has no identity', async () => {
    withFile();
    const none = () => Promise.reject(new DriverFailure('connection', 'Could not load credentials from any providers'));
    const as = (mode: 'auto' | 'httpfs') => openHttpfs(engine, { mode, directory, allowInstall: false }, options(), { username: null, secret: null }, none);
    expect(await as('auto')).toBe(false);
    await expect(as('httpfs')).rejects.toMatchObject({ kind: 'connection', driverCode: 'HTTPFS_CREDENTIAL', message: expect.stringMatching(/no AWS identity/) });
    expect(ran).toEqual([]);
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
    expect(await open({ allowInstall: true })).toEqual({ validUntil: undefined });
    expect(ran.slice(1, 3)).toEqual(['INSTALL httpfs', 'LOAD httpfs']);
  });
});
