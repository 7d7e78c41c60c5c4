import { busy, LOCK_TIMEOUT_MS, type VersionedFamily } from '#libs/lifecycle';
import { isContention, type Transaction, type Transactional } from '#libs/persistence';

/**
 * A transaction of a version verb: it waits `LOCK_TIMEOUT_MS` for another's lock, and answers a lost wait or a
 * deadlock with `*.version.conflict`, reason `busy`.
 */
export async function versionedTransaction<T>(
  database: Transactional,
  family: VersionedFamily,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  try {
    return await database.transaction(work, { lockTimeoutMs: LOCK_TIMEOUT_MS });
  } catch (error) {
    throw isContention(error) ? busy(family) : error;
  }
}
