import type { Logger } from '#libs/kernel';
import type { RunningServer } from './running-server.js';

/** One Ctrl-C reaches a process from its terminal and from its parents; what comes within this is the same wish. */
const SAME_WISH_MS = 1000;
/** 25 s after the drain cancelled its runs, or at a second signal, the process ends as it is (02 §9.3). */
const FORCED_EXIT_MS = 25_000;

/** What of the server its end needs. */
export type EndingServer = Pick<RunningServer, 'longestDrainMs' | 'cannotExit' | 'stop'>;

/** How the process ends: once, in order, and in a bounded time. */
export class Ending {
  #server: EndingServer | undefined;
  #begun = false;
  #signalledAt = 0;

  constructor(private readonly log: Logger) {}

  /** From the very beginning: an unhandled signal would leave the embedded database running. */
  onSignals(): void {
    // SIGHUP: the terminal was closed.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => this.#signalled(signal));
  }

  /** From here on there is something to drain, after a failure too. */
  serves(server: EndingServer): void {
    this.#server = server;
    process.on('uncaughtException', (error) => {
      // What fails while the process ends is not logged: the broken thing may be the log itself.
      if (this.#begun) return;
      this.log.error('Uncaught exception: draining.', { error });
      this.#end(server, { hurry: true, exitCode: 1 });
    });
  }

  #signalled(signal: NodeJS.Signals): void {
    if (!this.#server) {
      this.log.info(`${signal}: ending before it served.`);
      process.exit(0);
    }
    if (this.#begun) {
      if (performance.now() - this.#signalledAt < SAME_WISH_MS) return;
      this.log.warn(`Second ${signal}: ending at once.`);
      this.#exit(this.#server, 1);
    }
    this.#signalledAt = performance.now();
    this.log.info(`${signal}: draining.`, { event: 'shutdown.readiness_refused' });
    this.#end(this.#server, { hurry: false, exitCode: 0 });
  }

  #end(server: EndingServer, { hurry, exitCode }: { hurry: boolean; exitCode: number }): void {
    this.#begun = true;
    setTimeout(() => this.#exit(server, 1), server.longestDrainMs + FORCED_EXIT_MS).unref();
    server.stop({ hurry }).then(
      () => this.#exit(server, exitCode),
      (error: unknown) => {
        this.log.error('The drain failed.', { error });
        this.#exit(server, 1);
      },
    );
  }

  #exit(server: EndingServer, exitCode: number): void {
    if (!server.cannotExit) return process.exit(exitCode);
    this.log.error('A dead thread is still inside a statement: this process ends itself by force.');
    process.kill(process.pid, 'SIGKILL');
  }
}
