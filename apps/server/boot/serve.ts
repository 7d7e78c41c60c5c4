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
import { Ending } from './ending.js';
import { RunningServer } from './running-server.js';
import { openStores } from './stores.js';

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
