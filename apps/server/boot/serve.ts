import { resolve } from 'node:path';
import {
  ConfigurationError,
  createLogger,
  isPenstockError,
  loadConfiguration,
  type Configuration,
  type Logger,
} from '#libs/kernel';
import { startEmbedded, type EmbeddedStores } from './embedded.js';
import { RunningServer } from './running-server.js';
import { openStores } from './stores.js';

/** One Ctrl-C reaches a process from its terminal and from its parents; what comes within this is the same wish. */
const SAME_WISH_MS = 1000;
/** 25 s after the drain cancelled its runs, or at a second signal, the process ends as it is (02 §9.3). */
const FORCED_EXIT_MS = 25_000;

/** Boots the server and ends it on signals. Resolves when it serves. */
export async function serve(environment: NodeJS.ProcessEnv): Promise<void> {
  const configuration = readConfiguration(environment);
  const log = createLogger({
    level: configuration.get('datapipelines.observability.logging.level'),
    format: configuration.get('datapipelines.observability.logging.format'),
  });
  for (const warning of configuration.warnings) log.warn(warning);
  const ending = new Ending(log);
  ending.onSignals();
  try {
    ending.serves(await boot(configuration, log));
  } catch (error) {
    log.error('The server could not start.', { error });
    process.stderr.write(`\nThe server could not start. ${startFailure(error)}\n`);
    process.exit(1);
  }
}

/** For the person at the terminal; the log has the rest. */
function startFailure(error: unknown): string {
  const { code, port } = error as { code?: unknown; port?: unknown };
  if (code === 'EADDRINUSE') {
    return `Port ${String(port)} is in use. Stop what listens there, or choose others with SERVER_PORT and MANAGEMENT_SERVER_PORT.`;
  }
  return isPenstockError(error) ? error.message : 'The line above says why.';
}

function readConfiguration(environment: NodeJS.ProcessEnv): Configuration {
  try {
    return loadConfiguration(environment);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

async function boot(given: Configuration, log: Logger): Promise<RunningServer> {
  let embedded: EmbeddedStores | undefined;
  try {
    if (given.mode === 'embedded') {
      embedded = await startEmbedded(given, resolve(given.get('datapipelines.embedded.directory')), log);
    }
    const configuration = embedded?.configuration ?? given;
    const stores = await openStores(configuration, log);
    return await RunningServer.start({ configuration, stores, embedded, log });
  } catch (error) {
    await embedded?.postgres.stop();
    throw error;
  }
}

/** How the process ends: once, in order, and in a bounded time. */
class Ending {
  #server: RunningServer | undefined;
  #begun = false;
  #signalledAt = 0;

  constructor(private readonly log: Logger) {}

  /** From the very beginning: an unhandled signal would leave the embedded database running. */
  onSignals(): void {
    // SIGHUP: the terminal was closed.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => this.#signalled(signal));
  }

  /** From here on there is something to drain, after a failure too. */
  serves(server: RunningServer): void {
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

  #end(server: RunningServer, { hurry, exitCode }: { hurry: boolean; exitCode: number }): void {
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

  #exit(server: RunningServer, exitCode: number): void {
    if (!server.cannotExit) process.exit(exitCode);
    this.log.error('A dead thread is still inside a statement: this process ends itself by force.');
    process.kill(process.pid, 'SIGKILL');
  }
}
