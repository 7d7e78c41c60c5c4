import type { Effect } from './decide.js';

/** The two tables of a versioned family. Names are constants of the code, never input. */
export interface VersionedTables {
  entities: 'pipelines' | 'templates';
  versions: 'pipeline_versions' | 'template_versions';
  /** Column of `versions` that names the entity. */
  key: 'pipeline_id' | 'template_id';
}

export const PIPELINE_TABLES: VersionedTables = {
  entities: 'pipelines',
  versions: 'pipeline_versions',
  key: 'pipeline_id',
};
export const TEMPLATE_TABLES: VersionedTables = {
  entities: 'templates',
  versions: 'template_versions',
  key: 'template_id',
};

export interface Statement {
  sql: string;
  values: readonly unknown[];
}

/** How long a verb waits for another's lock, in milliseconds; then the answer is a conflict, reason `busy` (contract 05 §10.1). */
export const LOCK_TIMEOUT_MS = 5000;

/** Every surviving version of one entity, lowest first. */
export function statesStatement({ versions, key }: VersionedTables, entityId: string): Statement {
  return {
    sql: `SELECT version, status, body_hash AS "bodyHash", updated_by AS "updatedBy", updated_at AS "updatedAt"
            FROM ${versions} WHERE ${key} = $1 ORDER BY version`,
    values: [entityId],
  };
}

/** Serialises against writes that add pins: they re-read the pinned row FOR SHARE. */
export function lockVersionStatement({ versions, key }: VersionedTables, entityId: string, version: number): Statement {
  return {
    sql: `SELECT status FROM ${versions} WHERE ${key} = $1 AND version = $2::bigint FOR UPDATE`,
    values: [entityId, version],
  };
}

/**
 * The guarded statement of an effect on stored rows. Its WHERE clause is the guard: zero rows mean the state moved.
 * Inserts and overwrites carry a body and belong to each family's repository.
 * A version row's `updated_at` tells the last draft write, so none of these moves it (seed §4.5).
 */
export function effectStatement(
  { entities, versions, key }: VersionedTables,
  entityId: string,
  effect: Effect,
  actorId: string,
): Statement | undefined {
  const where = `WHERE ${key} = $1 AND version = $2::bigint`;
  switch (effect.kind) {
    case 'release':
      return {
        sql: `UPDATE ${versions} SET status = 'RELEASED', released_at = NOW(), released_by = $3
               ${where} AND status = 'DRAFT' AND body_hash = $4`,
        values: [entityId, effect.version, actorId, effect.baseHash],
      };
    case 'discard':
      return {
        sql: `UPDATE ${versions} SET status = 'DISCARDED', discarded_at = NOW(), discarded_by = $3
               ${where} AND status = 'RELEASED'`,
        values: [entityId, effect.version, actorId],
      };
    case 'restore':
      return {
        sql: `UPDATE ${versions} SET status = 'RELEASED', discarded_at = NULL, discarded_by = NULL
               ${where} AND status = 'DISCARDED'`,
        values: [entityId, effect.version],
      };
    case 'deleteVersion':
      return {
        sql: `DELETE FROM ${versions} ${where} AND status = 'DRAFT' AND ($3::text IS NULL OR body_hash = $3)`,
        values: [entityId, effect.version, effect.baseHash ?? null],
      };
    case 'deleteEntity':
      // The version goes with its entity (ON DELETE CASCADE); the guard says it is the sole one, a draft, and unchanged.
      return {
        sql: `DELETE FROM ${entities} e WHERE e.id = $1
                AND EXISTS (SELECT FROM ${versions} v WHERE v.${key} = e.id AND v.version = $2
                               AND v.status = 'DRAFT' AND ($3::text IS NULL OR v.body_hash = $3))
                AND NOT EXISTS (SELECT FROM ${versions} v WHERE v.${key} = e.id AND v.version <> $2)`,
        values: [entityId, effect.version, effect.baseHash ?? null],
      };
    case 'none':
    case 'insertDraft':
    case 'overwriteDraft':
    case 'insertReleased':
      return undefined;
  }
}

/** Moves the sticky pointer; the caller holds the entity's row lock. */
export function pointerStatement({ entities }: VersionedTables, entityId: string, version: number | null): Statement {
  return {
    sql: `UPDATE ${entities} SET current_version = $2, updated_at = NOW() WHERE id = $1`,
    values: [entityId, version],
  };
}
