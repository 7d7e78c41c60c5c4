import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from '../fixtures/api-client.js';
import { root } from '../fixtures/keeper-state.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { ServerProcess } from '../fixtures/server-process.js';

interface Credentials {
  email: string;
  password: string;
  userKey: string;
}

interface Outcome {
  exitCode: number;
  /** What each block printed, in the document's order; only the blocks that were reached. */
  outputs: string[];
  errors: string;
}

/** Stands before each block's output; no answer can hold it, since JSON escapes control characters. */
const MARK = '\u0001';
const RUN_MS = 120_000;
const guide = readFileSync(join(root, 'docs/first-pipeline.md'), 'utf8');

/** The fenced blocks of one language. */
function blocks(language: string): string[] {
  return [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map((match) => match[1] ?? '');
}

/** All blocks in one shell, as a reader pastes them; the first command that fails ends it. */
function run(scripts: readonly string[], env: Record<string, string>): Promise<Outcome> {
  const script = scripts.map((each) => `printf '\\001'\n${each}`).join('\n');
  return new Promise((resolve) => {
    const child = execFile(
      'bash',
      ['--norc', '-euo', 'pipefail', '-c', script],
      { env: { PATH: process.env['PATH'] ?? '', ...env }, timeout: RUN_MS },
      (_error, stdout, errors) =>
        resolve({ exitCode: child.exitCode ?? -1, outputs: stdout.split(MARK).slice(1), errors }),
    );
  });
}

describeWithProgram('curl', 'the first-pipeline document, pasted into a shell', () => {
  let directory: string;
  let server: ServerProcess;
  let credentials: Credentials;
  let outcome: Outcome;

  const scripts = blocks('sh');
  const outputOf = (text: string): string => outcome.outputs[scripts.findIndex((each) => each.includes(text))] ?? '';

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'penstock-guide-'));
    // The embedded Postgres may run as another user, who has to reach its folder.
    chmodSync(directory, 0o755);
    server = await ServerProcess.launch({
      DATAPIPELINES_DEMO: 'true',
      DATAPIPELINES_EMBEDDED_DIRECTORY: directory,
    });
    const { demoCredentials } = (await import(join(root, 'scripts/demo/credentials.mjs'))) as {
      demoCredentials: (base: string, directory: string) => Promise<Credentials>;
    };
    credentials = await demoCredentials(server.baseUrl, directory);
    outcome = await run(scripts, {
      BASE: server.baseUrl,
      KEY: credentials.userKey,
      EMAIL: credentials.email,
      PASSWORD: credentials.password,
      // The document's cookie jar goes with the folder.
      TMPDIR: directory,
    });
  }, 240_000);

  afterAll(async () => {
    await server?.end();
    rmSync(directory, { recursive: true, force: true });
  });

  it('every command ends well, so that a reader is never stuck', () => {
    expect(outcome.errors).toBe('');
    expect(outcome.exitCode).toBe(0);
    expect(outcome.outputs).toHaveLength(scripts.length);
  });

  it('the preview shows what the document shows: the optional line is there when its value is', () => {
    const shown = /^\{"data":("SELECT .*")\}$/m.exec(guide)?.[1];
    expect(shown).toBeDefined();
    expect(outputOf('/templates/render')).toContain(`"data":${shown}`);
  });

  it('the run ends with its rows, and the resumed stream holds only what came after the id', () => {
    const ids = [...outputOf("'Last-Event-ID: 5'").matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
    const last = ids.at(-1)!;
    const upTo = (first: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);
    expect(last).toBeGreaterThan(6);
    expect(ids).toEqual([...upTo(1), ...upTo(6)]);
  });

  it('the result has the very rows and the very CSV of the document', () => {
    const output = outputOf('format=csv');
    const csv = /^origin,flights,cost,left_over\n(?:.+,.+,.+,.+\n)+/m.exec(guide)?.[0];
    expect(csv).toBeDefined();
    expect(output.replaceAll('\r\n', '\n')).toContain(csv);
    expect(output).toContain('"total_rows":5');
  });

  it('the published URL answers rows to the minted key, those of the document first', () => {
    const answer = outputOf('curl -sf -H "DP-API-Key: $ENDPOINT_KEY"').trim().split('\n').at(-1) ?? '';
    expect(JSON.parse(answer)).toMatchObject({ row_count: 5, total_rows: 5 });
    const first = /"rows":(\[\[[^\]]*\])/.exec(guide.slice(guide.indexOf('$ENDPOINT_KEY"')))?.[1];
    expect(first).toBeDefined();
    expect(answer).toContain(`"rows":${first}`);
  });

  it('the cancelled run says that it was aborted', () => {
    expect(outputOf('-X DELETE')).toContain('event: execution_aborted');
  });

  it('the refusal is the one of the document', () => {
    const { error } = JSON.parse(outputOf('min_delay=soon')) as { error: { code: string; message: string } };
    expect(guide).toContain(JSON.stringify(error.message));
    expect(guide).toContain(`"code":"${error.code}"`);
  });

  it('the body for a database of one’s own is accepted as it stands', async () => {
    const [body] = blocks('json');
    const client = ApiClient.withKey(server.baseUrl, credentials.userKey);
    const created = await client.call('POST', '/api/v1/datasources', undefined, { raw: body ?? '' });
    expect([created.status, created.text.includes('change-me')]).toEqual([201, false]);
  });
});
