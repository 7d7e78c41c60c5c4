import { PenstockError } from '#libs/kernel';

/** Asked of every new pool and before a migration. */
export const SESSION_FACTS = `SELECT current_setting('TimeZone') AS zone, current_setting('server_version_num')::int AS version`;

export interface SessionFacts {
  zone: string;
  /** As PostgreSQL counts: 160004 is 16.4. */
  version: number;
}

const OLDEST_MAJOR = 16;

/** Refuses a server that is too old for the schema (seed §2). */
export function requireVersion({ version }: SessionFacts): void {
  if (version >= OLDEST_MAJOR * 10_000) return;
  const major = Math.floor(version / 10_000);
  throw new PenstockError('internal', {
    message: `The metadata database runs PostgreSQL ${major}; Penstock needs ${OLDEST_MAJOR} or newer.`,
    details: { reason: 'database_version', version: major },
  });
}

/** `options` in the URL take the place of ours, and stamps would be read with the wrong offset. */
export function requireUtc({ zone }: SessionFacts): void {
  if (zone === 'UTC') return;
  throw new PenstockError('internal', {
    message:
      `Sessions of the metadata database run in the time zone ${zone}, and Penstock needs UTC. ` +
      'Remove `options` from the database URL.',
    details: { reason: 'session_time_zone', zone },
  });
}
