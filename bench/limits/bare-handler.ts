import { startLimit, type LimitServer } from './start-limit.js';

/** Starts `bare-handler.mjs` on this database. */
export function startBareHandler(databaseUrl: string): Promise<LimitServer> {
  return startLimit('bare-handler.mjs', [databaseUrl]);
}
