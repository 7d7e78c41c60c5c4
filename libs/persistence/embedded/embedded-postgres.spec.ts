import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startChild, type TypeScriptChild } from '../../../test/fixtures/child.js';
import { isAlive, scratchRoot } from '../../../test/fixtures/keeper-state.js';
import { runMigrations } from '../migration-runner.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.js';
import { firstClosedParent } from './service-user.js';

let directory: string;
let said: string[];
let children: TypeScriptChild[];
let open: EmbeddedPostgres[];

beforeEach(() => {
  directory = mkdtempSync(join(scratchRoot, 'penstock-embedded-'));
  chmodSync(directory, 0o755);
  said = [];
  children = [];
  open = [];
});

afterEach(async () => {
  for (const { process: child } of children) child.kill('SIGTERM');
  await Promise.all(children.map(({ finished }) => finished));
  await Promise.all(open.map((postgres) => postgres.stop()));
  rmSync(directory, { recursive: true, force: true });
});

async function start(): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ directory, log: (message) => void said.push(message) });
  open.push(postgres);
  return postgres;
}

async function startInChild(): Promise<{ child: TypeScriptChild; url: string; pid: number }> {
  const child = startChild('test/fixtures/hold-postgres.ts', [directory]);
  children.push(child);
  await child.says('\n');
  return { child, ...(JSON.parse(child.stdout()) as { url: string; pid: number }) };
}

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('the embedded PostgreSQL', () => {
  it('serves a plain role that owns its database, so the append-only privilege binds it, and is ready for replication', async () => {
    const { url } = await start();
    expect(
      await ask(
        url,
        `SELECT current_user AS role, current_database() AS name, current_setting('wal_level') AS wal,
                rolsuper, rolcreaterole, rolcreatedb, pg_get_userbyid(datdba) AS owner, lower('ÄÉ') AS lowered
           FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()`,
      ),
    ).toEqual([
      {
        role: 'penstock',
        name: 'penstock',
        wal: 'logical',
        rolsuper: false,
        rolcreaterole: false,
        rolcreatedb: false,
        owner: 'penstock',
        lowered: 'äé',
      },
    ]);
    await expect(runMigrations(url)).resolves.not.toEqual([]);
  });

  it('keeps its data over a restart', async () => {
    const first = await start();
    await ask(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    const second = await start();
    expect(await ask(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  it('listens on the loopback address only and without a guessable password', async () => {
    const { url } = await start();
    const wrong = new URL(url);
    for (const password of ['', 'penstock', 'postgres', 'password']) {
      wrong.password = password;
      await expect(ask(wrong.href, 'SELECT 1')).rejects.toBeDefined();
    }
    expect(await ask(url, `SELECT current_setting('listen_addresses') AS at`)).toEqual([{ at: '127.0.0.1' }]);
  });

  it('keeps its passwords in a file for the owner alone, and values and statements out of its log', async () => {
    const { url } = await start();
    await ask(url, `CREATE TABLE people (email TEXT UNIQUE); INSERT INTO people VALUES ('planted@secret.example')`);
    await expect(ask(url, `INSERT INTO people VALUES ('planted@secret.example')`)).rejects.toBeDefined();
    const folder = join(directory, 'postgres');
    const log = readFileSync(join(folder, 'server.log'), 'utf8');
    expect(log).toContain('people_email_key');
    expect(log).not.toContain('planted');
    const secrets = join(folder, 'secrets');
    expect(statSync(secrets).mode & 0o777).toBe(0o600);
    expect(log).not.toContain(new URL(url).password);
  });

  it('refuses a second process on its folder and names folder and process', async () => {
    const { child } = await startInChild();
    await expect(start()).rejects.toMatchObject({
      code: 'internal',
      details: { reason: 'folder_in_use', folder: join(directory, 'postgres'), pid: child.process.pid },
      message: expect.stringContaining(`pid ${child.process.pid}`),
    });
  });

  it('refuses a second start in the same process as well', async () => {
    await start();
    await expect(start()).rejects.toMatchObject({ details: { reason: 'folder_in_use', pid: process.pid } });
  });

  it('takes over after its process was killed: ends the server left running, and loses nothing committed', async () => {
    const { child, url, pid } = await startInChild();
    await ask(url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    child.process.kill('SIGKILL');
    await child.finished;
    expect(isAlive(pid)).toBe(true);
    const { url: next } = await start();
    expect(isAlive(pid)).toBe(false);
    expect(await ask(next, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    expect(said).toEqual([expect.stringContaining('killed process')]);
  });

  it('recovers when the server died with its process, leaving its pid file behind', async () => {
    const { child, url, pid } = await startInChild();
    await ask(url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    child.process.kill('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await child.finished;
    while (isAlive(pid)) await delay(20);
    const { url: next } = await start();
    expect(await ask(next, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  it('starts over a pid file whose number was given to another program, and leaves that program alone', async () => {
    const first = await start();
    await first.stop();
    const innocent = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
    writeFileSync(join(directory, 'postgres', 'data', 'postmaster.pid'), `${innocent.pid}\n/elsewhere\n`);
    const { url } = await start();
    expect(await ask(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(isAlive(innocent.pid ?? 0)).toBe(true);
    innocent.kill('SIGKILL');
  });

  it('ends with its process on an ordinary exit', async () => {
    const { child, pid } = await startInChild();
    child.process.kill('SIGTERM');
    expect((await child.finished).code).toBe(0);
    expect(isAlive(pid)).toBe(false);
  });

  it('begins anew when the first start was killed half-way', async () => {
    mkdirSync(join(directory, 'postgres', 'data.unfinished', 'base'), { recursive: true });
    writeFileSync(join(directory, 'postgres', 'data.unfinished', 'PG_VERSION'), '18\n');
    const { url } = await start();
    expect(await ask(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('says so when secrets and data do not belong together, instead of starting on an empty database', async () => {
    const first = await start();
    await first.stop();
    rmSync(join(directory, 'postgres', 'secrets'));
    await expect(start()).rejects.toMatchObject({ details: { reason: 'embedded_secrets' } });
    writeFileSync(join(directory, 'postgres', 'secrets'), 'superuser=\n');
    await expect(start()).rejects.toMatchObject({ details: { reason: 'embedded_secrets' } });
  });

  it('says which folder it cannot write', async () => {
    const file = join(directory, 'file');
    writeFileSync(file, '');
    await expect(startEmbeddedPostgres({ directory: file, log: () => undefined })).rejects.toMatchObject({
      details: { reason: 'folder_unusable', folder: join(file, 'postgres') },
    });
  });

  it('finds its data a reachable place, and explains it, when root starts it below a closed folder', async () => {
    chmodSync(directory, 0o700);
    const { url } = await start();
    const [row] = await ask(url, `SELECT 1 AS one`);
    expect(row).toEqual({ one: 1 });
    if (process.getuid?.() === 0) {
      expect(said).toEqual([
        expect.stringMatching(/may not enter .*penstock-embedded-.*\/var\/lib\/penstock\/[0-9a-f]{16} /),
      ]);
      const place = /kept in (\S+) instead/.exec(said[0] ?? '')?.[1] ?? '';
      expect(statSync(join(place, 'PG_VERSION')).isFile()).toBe(true);
      await open.pop()?.stop();
      rmSync(place, { recursive: true });
    } else {
      expect(said).toEqual([]);
    }
  });
});

describe('the way to a folder', () => {
  it('is closed by the first parent that another user may not enter', async () => {
    const inner = join(directory, 'a', 'b', 'data');
    mkdirSync(inner, { recursive: true });
    const stranger = { uid: 54_321, gid: 54_321 };
    expect(await firstClosedParent(inner, stranger)).toBeUndefined();
    chmodSync(join(directory, 'a'), 0o700);
    expect(await firstClosedParent(inner, stranger)).toBe(join(directory, 'a'));
    expect(await firstClosedParent(inner, { uid: process.getuid?.() ?? 0, gid: 0 })).toBeUndefined();
  });
});
