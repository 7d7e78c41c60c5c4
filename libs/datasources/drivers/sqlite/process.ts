import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { DriverFailure } from '../driver-failure.js';
import { sqliteFailure } from './failure.js';
import type { SqliteReply, SqliteRequest } from './protocol.js';

/** The child beside this file: compiled when this is, else the source, which Node runs as it stands. */
const CHILD = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './child.ts' : './child.js', import.meta.url));

interface Pending {
  resolve(reply: SqliteReply): void;
  reject(failure: DriverFailure): void;
}

/** The process of one SQLite connection: requests in order, one answer each. Killing it stops any statement. */
export class SqliteProcess {
  readonly #child: ChildProcess;
  #pending: Pending | null = null;
  #gone: DriverFailure | null = null;

  constructor() {
    // No environment of the server's reaches the child: it holds secrets.
    this.#child = fork(CHILD, [], {
      serialization: 'advanced',
      execArgv: ['--no-warnings'],
      env: { TZ: 'UTC' },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('message', (reply) => this.#settle((pending) => pending.resolve(reply as SqliteReply)));
    this.#child.on('error', (error) =>
      this.#end(new DriverFailure('connection', 'The SQLite process failed.', { cause: error })),
    );
    this.#child.on('exit', () => this.#end(new DriverFailure('connection', 'The SQLite process ended.')));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get alive(): boolean {
    return this.#gone === null;
  }

  async ask<Op extends SqliteRequest['op']>(
    request: Extract<SqliteRequest, { op: Op }>,
  ): Promise<Extract<SqliteReply, { ok: true; op: Op }>> {
    if (this.#gone) throw this.#gone;
    if (this.#pending) throw new DriverFailure('other', 'The connection is busy.');
    const reply = await new Promise<SqliteReply>((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#child.send(request, (error) => {
        if (error)
          this.#end(new DriverFailure('connection', 'The SQLite process cannot be reached.', { cause: error }));
      });
    });
    if (!reply.ok) throw sqliteFailure(reply.message, reply.code);
    return reply as Extract<SqliteReply, { ok: true; op: Op }>;
  }

  /** SIGKILL: SQLite cannot be interrupted otherwise. What was not committed is rolled back at the next opening. */
  kill(): void {
    this.#child.kill('SIGKILL');
    this.#end(new DriverFailure('connection', 'The SQLite process was ended.'));
  }

  /** Lets the child close its files. */
  disconnect(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  #settle(use: (pending: Pending) => void): void {
    const pending = this.#pending;
    this.#pending = null;
    if (pending) use(pending);
  }

  #end(failure: DriverFailure): void {
    this.#gone ??= failure;
    this.#settle((pending) => pending.reject(failure));
  }
}
