import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { open, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ServiceUser } from './service-user.js';

const run = promisify(execFile);

const POLL_MS = 25;
const FAST_STOP_MS = 10_000;

export interface PostmasterOptions {
  program: string;
  data: string;
  logFile: string;
  user: ServiceUser | undefined;
  settings: Readonly<Record<string, string>>;
}

/** The server process. In a process group of its own, so that Ctrl-C reaches Penstock first and it can drain. */
export class Postmaster {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #killOnExit: () => void;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
    this.#killOnExit = () => void child.kill('SIGINT');
    process.once('exit', this.#killOnExit);
  }

  static async spawn(options: PostmasterOptions): Promise<Postmaster> {
    const port = await freePort();
    const log = await open(options.logFile, 'w', 0o600);
    const flags = Object.entries({ ...options.settings, port: String(port) }).flatMap(([key, value]) => [
      '-c',
      `${key}=${value}`,
    ]);
    try {
      const child = spawn(options.program, ['-D', options.data, ...flags], {
        ...options.user,
        cwd: options.data,
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
        env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
      });
      await spawned(child);
      child.unref();
      return new Postmaster(child, port);
    } finally {
      await log.close();
    }
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async stop(): Promise<void> {
    process.removeListener('exit', this.#killOnExit);
    if (!this.running || this.pid === undefined) return;
    await end(this.pid, async () => !this.running);
  }
}

/**
 * Ends the server that a killed process left behind on this data folder; whether there was one. The caller holds the
 * folder, so a pid file that names anything else is a leftover, over which PostgreSQL would refuse to start.
 */
export async function stopOrphan(data: string): Promise<boolean> {
  const pid = await recordedPid(data);
  if (pid === undefined) return false;
  const orphaned = await servesFolder(pid, data);
  if (orphaned) await end(pid, async () => !(await servesFolder(pid, data)));
  await rm(join(data, 'postmaster.pid'), { force: true });
  return orphaned;
}

async function recordedPid(data: string): Promise<number | undefined> {
  try {
    const pid = Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10);
    return pid > 0 ? pid : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The pid may have been given to another program since: only a command line that names the folder counts. */
async function servesFolder(pid: number, data: string): Promise<boolean> {
  try {
    const command =
      process.platform === 'linux'
        ? await readFile(`/proc/${pid}/cmdline`, 'utf8')
        : (await run('ps', ['-o', 'command=', '-p', String(pid)])).stdout;
    return command.includes(data);
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === 'ENOENT' || code === 'ESRCH' || code === 1) return false;
    throw error;
  }
}

/** SIGINT ends sessions and checkpoints; SIGQUIT, if that takes too long, leaves recovery to the next start. */
async function end(pid: number, gone: () => Promise<boolean>): Promise<void> {
  const patience = performance.now() + FAST_STOP_MS;
  let forced = false;
  signal(pid, 'SIGINT');
  while (!(await gone())) {
    if (!forced && performance.now() > patience) {
      signal(pid, 'SIGQUIT');
      forced = true;
    }
    await delay(POLL_MS);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It ended by itself in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function spawned(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new TypeError('no port')),
      );
    });
  });
}
