import { beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../fixtures/keeper-state.js';
import { describeWithProgram } from '../fixtures/programs.js';

interface Report {
  rows: { path: string; value: number; limit?: { value: number } }[];
}

/** Those that start further servers or wait for seconds are left to the people who measure. */
const PATHS = ['staging', 'stored-result', 'staging-append', 'api-under-load', 'leak', 'plans'];

describeWithProgram('redis-server', 'the scenarios of the benchmarks', () => {
  let report: Report;

  beforeAll(async () => {
    const args = [join(root, 'scripts/bench.mjs'), '--smoke', '--json', '--only', PATHS.join(',')];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
    report = JSON.parse(stdout.slice(stdout.indexOf('{\n'))) as Report;
  }, 90_000);

  it('still run against the product as it is, and each gives its figures', () => {
    expect(report.rows.length).toBeGreaterThanOrEqual(PATHS.length);
    for (const { path, value, limit } of report.rows) {
      expect({
        path,
        value: Number.isFinite(value),
        limit: limit === undefined || Number.isFinite(limit.value),
      }).toEqual({
        path,
        value: true,
        limit: true,
      });
    }
  });

  it('leave nothing behind: no run, lease, key without an end or spill file', () => {
    expect(report.rows.find(({ path }) => path.startsWith('left behind by'))?.value).toBe(0);
  });
});
