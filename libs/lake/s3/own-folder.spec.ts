import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { ownFolder } from './own-folder.js';

describe('the folder of copies of one process', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'penstock-own-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const ownedBy = (where: string, host: string, pid: number): void => {
    mkdirSync(where, { recursive: true });
    writeFileSync(join(where, '.owner'), JSON.stringify({ host, pid: String(pid) }));
  };
  /** A process that ran and is gone. */
  const gone = (): number => spawnSync(process.execPath, ['-e', '']).pid;

  it('is the given one for the first and others for those who come while it runs', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => ownFolder(folder)));
    expect(all.sort()).toEqual([folder, ...[1, 2, 3].map((number) => join(folder, `.process-${number}`))]);
    expect(readdirSync(folder).sort()).toEqual(['.owner', '.process-1', '.process-2', '.process-3']);
  });

  it('is taken over with its copies from a process of this machine that is gone', async () => {
    ownedBy(folder, hostname(), gone());
    writeFileSync(join(folder, 'copy'), 'x');
    expect(await ownFolder(folder)).toBe(folder);
    expect(existsSync(join(folder, 'copy'))).toBe(true);
  });

  it('is taken over from a process of before that had our number, as the first of every container has', async () => {
    ownedBy(folder, hostname(), process.pid);
    const before = new Date(Date.now() - process.uptime() * 1000 - 1000);
    utimesSync(join(folder, '.owner'), before, before);
    expect(await ownFolder(folder)).toBe(folder);
  });

  it('stays with another thread of this process, which a thread knows by nothing else', async () => {
    ownedBy(folder, hostname(), process.pid);
    expect(await ownFolder(folder)).toBe(join(folder, '.process-1'));
  });

  it('is taken over by one of many that come at once', async () => {
    for (let round = 0; round < 20; round += 1) {
      rmSync(folder, { recursive: true });
      ownedBy(folder, hostname(), 2 ** 22 + 1);
      const all = await Promise.all(Array.from({ length: 6 }, () => ownFolder(folder)));
      expect(new Set(all).size).toBe(6);
    }
  });

  it('stays with a process of another machine until it has given no sign of life for long', async () => {
    ownedBy(folder, 'elsewhere', gone());
    expect(await ownFolder(folder)).toBe(join(folder, '.process-1'));
    const long = new Date(Date.now() - 700_000);
    utimesSync(join(folder, '.owner'), long, long);
    expect(await ownFolder(folder)).toBe(folder);
  });

  it('loses what processes left beside it that are gone: the limit of bytes is for all of them', async () => {
    ownedBy(join(folder, '.process-7'), hostname(), gone());
    ownedBy(join(folder, '.process-8'), 'elsewhere', 1);
    expect(await ownFolder(folder)).toBe(folder);
    expect(readdirSync(folder).sort()).toEqual(['.owner', '.process-8']);
  });
});
