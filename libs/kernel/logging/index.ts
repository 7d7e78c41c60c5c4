export { Logger, SilentLogger, type LogFields } from './logger.js';
export type { LogDestination } from './destination.js';
export { createLogger, type LoggerOptions } from './create-logger.js';
export { isSecretName } from './secret-names.js';
export { scrub } from './scrub.js';
