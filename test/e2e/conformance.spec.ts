import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createEmptyDatabase, type EmptyDatabase } from '../fixtures/postgres.js';
import { Deployment } from '../fixtures/deployment.js';
import { root } from '../fixtures/keeper-state.js';
import { ADMIN } from '../fixtures/server-process.js';
import { describeWithProgram } from '../fixtures/programs.js';

interface Report {
  scenarios: number;
  failed: number;
  not_run: number;
  outcomes: { file: string; name: string; failure?: { step: number; title: string; defects: string[] } }[];
}

const script = join(root, 'scripts/conformance.mjs');
const ORIGIN = 'https://app.example';
const datasource = ({ url }: { url: string }): string[] => {
  const { host, pathname, username, password } = new URL(url);
  return [
    `--datasource=jdbc:postgresql://${host}${pathname}`,
    `--datasource-username=${username}`,
    `--datasource-password=${password}`,
  ];
};

function run(...args: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { timeout: 60_000, maxBuffer: 16 * 2 ** 20 };
    const child = execFile(process.execPath, [script, ...args], options, (_error, stdout, stderr) =>
      resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

describeWithProgram('redis-server', 'the vectors of HTTP', (redis) => {
  let deployment: Deployment;
  let source: EmptyDatabase;
  let impostor: Server;

  beforeAll(async () => {
    source = await createEmptyDatabase();
    deployment = await Deployment.start({ redis, env: { DATAPIPELINES_CORS_ALLOWED_ORIGINS: ORIGIN } });
    impostor = createServer((_request, response) => response.end('{}'));
    await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve));
  }, 90_000);

  afterAll(async () => {
    impostor?.close();
    await deployment?.stop();
    await source?.drop();
  });

  it('hold of this server', async () => {
    const { exitCode, stdout } = await run(
      ...['--base-url', deployment.server.baseUrl, '--key', deployment.authorKey, '--origin', ORIGIN, '--json'],
      ...['--email', ADMIN.email, '--password', `${ADMIN.password}-changed`, ...datasource(source)],
    );
    const { outcomes, scenarios, not_run } = JSON.parse(stdout) as Report;
    expect(not_run).toBe(0);
    expect(outcomes.filter(({ failure }) => failure)).toEqual([]);
    expect(scenarios).toBeGreaterThan(60);
    expect(exitCode).toBe(0);
  }, 90_000);

  it('fail, every one of them, against a server that answers something else', async () => {
    const { port } = impostor.address() as AddressInfo;
    const { exitCode, stdout } = await run(
      ...['--base-url', `http://127.0.0.1:${port}`, '--key', 'any', '--json', '--origin', ORIGIN],
      ...['--email', 'a@b.example', '--password', 'any', '--datasource', 'jdbc:postgresql://none/none'],
    );
    const { failed, scenarios, outcomes } = JSON.parse(stdout) as Report;
    expect([exitCode, failed]).toEqual([1, scenarios]);
    expect(outcomes[0]?.failure?.defects[0]).toMatch(/expected .*, found /);
  }, 90_000);

  it('that cannot be run say what they need, and nothing of them is called a success', async () => {
    const { port } = impostor.address() as AddressInfo;
    const { stdout } = await run('--base-url', `http://127.0.0.1:${port}`, '--key', 'any', '--sends-mail');
    for (const need of ['--email and --password', '--origin', '--datasource', 'a server without mail']) {
      expect(stdout).toMatch(new RegExp(`^not run .* \\(needs .*${need}.*\\)$`, 'm'));
    }
    expect(stdout).not.toMatch(/^ok/m);
  });

  it('explain themselves, and what was not understood', async () => {
    const help = await run('--help');
    expect([help.exitCode, help.stdout]).toEqual([0, expect.stringContaining('--base-url')]);
    const wrong = await run('--bass-url', 'x');
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('--base-url')]);
  });
});
