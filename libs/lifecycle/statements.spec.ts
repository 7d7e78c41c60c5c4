import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '#libs/kernel';
import type { Transaction } from '#libs/persistence';
import { createWorkspace, type TestWorkspace } from '../../test/fixtures/authors.js';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { after, decide, type Effect, type Verb, type VerbInputs } from './decide.js';
import { effectStatement, PIPELINE_TABLES, pointerStatement, statesStatement } from './statements.js';
import { working, type EntityState, type VersionState } from './version-state.js';

let db: TestDatabase;
let team: TestWorkspace;
let user: string;

beforeAll(async () => {
  db = await createTestDatabase();
  team = await createWorkspace(db.database);
  user = team.principal().userId;
}, 60_000);
afterAll(() => db.drop());

/** Thrown to undo a sequence: every one starts from an empty table. */
class Undo extends Error {}

type Event = { verb: Verb | 'execute'; version: number; same: boolean; fresh: boolean };

const events = fc.array(
  fc.record<Event>({
    verb: fc.constantFrom<Event['verb']>(
      'write',
      'write',
      'release',
      'release',
      'purge',
      'discard',
      'restore',
      'switch',
      'import',
      'execute',
      'purgeEntity',
    ),
    version: fc.integer({ min: 1, max: 4 }),
    same: fc.boolean(),
    fresh: fc.boolean(),
  }),
  { minLength: 3, maxLength: 9 },
);

async function readState(tx: Transaction, id: string): Promise<EntityState> {
  const { sql, values } = statesStatement(PIPELINE_TABLES, id);
  const [entity] = await tx.query<{ current: number | null }>(
    'SELECT current_version AS current FROM pipelines WHERE id = $1',
    [id],
  );
  return { versions: await tx.query<VersionState>(sql, values), currentVersion: entity?.current ?? null };
}

const VERSION = `INSERT INTO pipeline_versions (pipeline_id, version, body_json, status, body_hash, released_at, created_by)
  VALUES ($1, $2, '{}', $3, $4, CASE WHEN $3 = 'RELEASED' THEN NOW() END, $5)`;

/** Carries an effect out as the repositories do; true when exactly one row took it. */
async function apply(tx: Transaction, id: string, effect: Effect, hash: string): Promise<boolean> {
  if (effect.kind === 'insertDraft')
    return (await tx.execute(VERSION, [id, effect.version, 'DRAFT', hash, user])) === 1;
  if (effect.kind === 'insertReleased') {
    return (await tx.execute(VERSION, [id, effect.version, 'RELEASED', hash, user])) === 1;
  }
  if (effect.kind === 'overwriteDraft') {
    const sql = `UPDATE pipeline_versions SET body_hash = $3 WHERE pipeline_id = $1 AND version = $2 AND status = 'DRAFT' AND body_hash = $4`;
    return (await tx.execute(sql, [id, effect.version, hash, effect.baseHash])) === 1;
  }
  const statement = effectStatement(PIPELINE_TABLES, id, effect, user);
  return statement === undefined || (await tx.execute(statement.sql, statement.values)) === 1;
}

/** What must hold in the database after every event (contract 05 §10). */
async function broken(tx: Transaction, id: string, eligible: string[]): Promise<string[]> {
  const rows = await tx.query<{ rule: string }>(
    `SELECT 'no version' AS rule FROM pipelines p WHERE p.id = $1
        AND NOT EXISTS (SELECT FROM pipeline_versions v WHERE v.pipeline_id = p.id)
      UNION ALL SELECT 'two drafts' FROM pipeline_versions WHERE pipeline_id = $1 AND status = 'DRAFT' HAVING count(*) > 1
      UNION ALL SELECT 'pointer' FROM pipelines p WHERE p.id = $1 AND p.current_version IS NOT NULL
        AND NOT EXISTS (SELECT FROM pipeline_versions v
                         WHERE v.pipeline_id = p.id AND v.version = p.current_version AND v.status = ANY($2::text[]))
      UNION ALL SELECT 'orphan execution' FROM pipeline_executions e WHERE e.pipeline_id = $1
        AND NOT EXISTS (SELECT FROM pipeline_versions v WHERE v.pipeline_id = $1 AND v.version = e.pipeline_version)
      UNION ALL SELECT 'released without a stamp' FROM pipeline_versions
        WHERE pipeline_id = $1 AND status <> 'DRAFT' AND released_at IS NULL`,
    [id, eligible],
  );
  return rows.map(({ rule }) => rule);
}

describe('the statements of the state machine', () => {
  it.each([
    ['development', true],
    ['receiver', false],
  ])(
    'keep database and model the same through 2 000 sequences (%s)',
    async (_name, authoringEnabled) => {
      const posture = { authoringEnabled };
      const eligible = authoringEnabled ? ['DRAFT', 'RELEASED'] : ['RELEASED'];
      await fc.assert(
        fc.asyncProperty(events, async (sequence) => {
          const run = db.database.transaction(async (tx) => {
            const id = newId();
            await tx.execute(
              `INSERT INTO pipelines (id, workspace_id, name, display_name, owner_id) VALUES ($1, $2, $3, 'm', $4)`,
              [id, team.id, `m/${id}`, user],
            );
            let hashes = 0;
            const first = authoringEnabled ? 'DRAFT' : 'RELEASED';
            await tx.execute(VERSION, [id, 1, first, 'h0', user]);
            if (!authoringEnabled) await tx.execute('UPDATE pipelines SET current_version = 1 WHERE id = $1', [id]);
            for (const event of sequence) {
              const now = await readState(tx, id);
              if (now.versions.length === 0) break;
              if (event.verb === 'execute') {
                const subject = working(now);
                if (!subject) continue;
                await tx.execute(
                  `INSERT INTO pipeline_executions (execution_id, pipeline_id, pipeline_version, status, triggered_by, triggered_via, started_at, root_execution_id)
                 SELECT x, $1, $2, 'SUCCESS', $3, 'UI', NOW(), x FROM gen_random_uuid() AS x`,
                  [id, subject.version, user],
                );
                continue;
              }
              const hash = `h${++hashes}`;
              const input = {
                version: event.version,
                baseHash: event.verb.startsWith('purge') ? undefined : event.fresh ? working(now)?.bodyHash : 'stale',
                sameBody: event.same,
                bodyHash: event.same ? 'h0' : hash,
              };
              const decision = decide(event.verb, now, input as VerbInputs[Verb], posture);
              if (!decision.allowed) continue;
              const { effect } = decision;
              if (effect.kind === 'deleteVersion' || effect.kind === 'deleteEntity') {
                await tx.execute('DELETE FROM pipeline_executions WHERE pipeline_id = $1 AND pipeline_version = $2', [
                  id,
                  effect.version,
                ]);
              }
              const written = event.verb === 'import' ? input.bodyHash : hash;
              expect(await apply(tx, id, effect, written)).toBe(true);
              if (effect.kind !== 'deleteEntity' && decision.currentVersion !== now.currentVersion) {
                const { sql, values } = pointerStatement(PIPELINE_TABLES, id, decision.currentVersion);
                await tx.execute(sql, values);
              }
              const model = after(now, decision, written);
              const stored = await readState(tx, id);
              expect(stored.versions.map(({ version, status, bodyHash }) => [version, status, bodyHash])).toEqual(
                model.versions.map(({ version, status, bodyHash }) => [version, status, bodyHash]),
              );
              expect(stored.currentVersion).toBe(model.versions.length === 0 ? null : model.currentVersion);
              expect(await broken(tx, id, eligible)).toEqual([]);
            }
            throw new Undo();
          });
          await run.catch((error: unknown) => {
            if (!(error instanceof Undo)) throw error;
          });
        }),
        { numRuns: 2000 },
      );
    },
    180_000,
  );

  it('touch no row when the row moved on: the WHERE clause is the guard', async () => {
    await db.database
      .transaction(async (tx) => {
        const id = newId();
        await tx.execute(
          `INSERT INTO pipelines (id, workspace_id, name, display_name, owner_id) VALUES ($1, $2, $3, 'm', $4)`,
          [id, team.id, `m/${id}`, user],
        );
        await tx.execute(VERSION, [id, 1, 'RELEASED', 'h1', user]);
        await tx.execute(VERSION, [id, 2, 'DRAFT', 'h2', user]);
        for (const effect of [
          { kind: 'release', version: 2, baseHash: 'other' },
          { kind: 'release', version: 1, baseHash: 'h1' },
          { kind: 'discard', version: 2 },
          { kind: 'restore', version: 1 },
          { kind: 'deleteVersion', version: 1 },
          { kind: 'deleteVersion', version: 2, baseHash: 'other' },
          { kind: 'deleteEntity', version: 2 },
        ] as const) {
          expect([effect, await apply(tx, id, effect, '')]).toEqual([effect, false]);
        }
        throw new Undo();
      })
      .catch((error: unknown) => {
        if (!(error instanceof Undo)) throw error;
      });
  });
});
