export { Batcher, type BatcherOptions } from './batcher.js';
export { boundArray, boundArrays } from './bound-arrays.js';
export { Database, type DatabaseOptions } from './database.js';
export type { Queryable, Transaction, Transactional, TransactionOptions } from './queryable.js';
export {
  constraintOf,
  DatabaseFailure,
  isConnectionFailure,
  isContention,
  type ConstraintViolation,
} from './database-failure.js';
export { logRights, type LogRights } from './log-rights.js';
export { runMigrations, migrationState, type MigrationState } from './migration-runner.js';
export { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded/embedded-postgres.js';
