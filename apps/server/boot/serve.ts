import { resolve } from 'node:path';
import { ConfigurationError, createLogger, loadConfiguration, type Configuration, type Logger } from '#libs/kernel';
import { startEmbedded, type EmbeddedStores } from './embedded.js';
import { RunningServer } from './running-server.js';
import { openStores } from './stores.js';

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
  let server: RunningServer | undefined;
  endOnSignals(() => server, log);
  try {
    const serving = await boot(configuration, log);
    server = serving;
    process.on('uncaughtException', (error) => {
      log.error('Uncaught exception: draining.', { error });
      void serving.stop({ hurry: true }).finally(() => process.exit(1));
    });
  } catch (error) {
    log.error('The server could not start.', { error });
    process.exit(1);
  }
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

/** From the very beginning: an unhandled signal would leave the embedded database running. */
function endOnSignals(running: () => RunningServer | undefined, log: Logger): void {
  let ending = false;
  const end = (signal: NodeJS.Signals): void => {
    const server = running();
    if (!server) {
      log.info(`${signal}: ending before it served.`);
      process.exit(0);
    }
    if (ending) {
      log.warn(`Second ${signal}: ending at once.`);
      process.exit(1);
    }
    ending = true;
    log.info(`${signal}: draining.`, { event: 'shutdown.readiness_refused' });
    const force = setTimeout(() => process.exit(1), server.longestDrainMs + FORCED_EXIT_MS);
    force.unref();
    server.stop({ hurry: false }).then(
      () => process.exit(0),
      (error: unknown) => {
        log.error('The drain failed.', { error });
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
}
