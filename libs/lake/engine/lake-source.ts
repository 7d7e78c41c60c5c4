import { abortable, DriverFailure, type Access, type ConnectionSource, type DriverConnection } from '#libs/datasources';

import type { LakeTable, LakeTableFields } from '../registry/lake-table.js';
import type { ViewOutcome } from '../registry/lake-table.repository.js';
import { TableProblem } from '../tables/table-scan.js';
import { LakeEngine, type EngineParts } from './lake-engine.js';
import { viewSchema } from './view-names.js';
import { tooSlow, type MadeView } from './views.js';

/** What a source asks of the registry of its datasource. */
export interface SourceRegistry {
  tables(): Promise<LakeTable[]>;
  record(outcomes: readonly ViewOutcome[]): Promise<void>;
}

export interface SourceSettings {
  /** Files are looked for anew when the engine is older than this. */
  refreshMs: number;
  parts(): Promise<EngineParts>;
  /** The bytes of a small object in a bucket; rejects with DriverFailure. */
  object(bucket: string, key: string, most: number, signal: AbortSignal): Promise<Buffer>;
  /** Lists where the tables lie, for a sign of life; rejects with DriverFailure. */
  listRoots(tables: readonly LakeTable[], signal: AbortSignal): Promise<void>;
}

/** What is wrong with a table that was looked at. */
export interface TableFinding {
  reason: string;
  /** Its location lies outside the file roots. */
  isOutside: boolean;
}

/** One row is enough to know that a table can be read. */
const ROWS = 1;

/** An engine whose entry to its storage ends sooner is replaced before the next query. */
const ENDING_MS = 60_000;

interface Standing {
  engine: LakeEngine;
  builtAt: number;
}

/**
 * The engine of one lake datasource in this process. Everybody who comes while it is built waits for the same one; a
 * newer one takes its place as soon as it stands, and the older ends with its last query.
 */
export class LakeSource implements ConnectionSource {
  readonly #settings: SourceSettings;
  readonly #registry: SourceRegistry;
  readonly #closed = new AbortController();
  #standing: Standing | undefined;
  #building: Promise<LakeEngine> | undefined;

  constructor(settings: SourceSettings, registry: SourceRegistry) {
    this.#settings = settings;
    this.#registry = registry;
  }

  async connect(_access: Access, signal: AbortSignal): Promise<DriverConnection> {
    return await (await abortable(this.#engine(), signal)).connect(signal);
  }

  async probe(signal: AbortSignal): Promise<string> {
    const parts = await this.#settings.parts();
    await this.#settings.listRoots(await this.#registry.tables(), signal);
    const engine = await LakeEngine.open(parts, [], signal);
    try {
      const connection = await engine.connect(signal);
      const [row] = await connection.catalog({ sql: `SELECT 'DuckDB ' || version()`, values: [] }, signal);
      await connection.close();
      return row?.[0] ?? '';
    } finally {
      engine.supersede();
    }
  }

  /** A small object that lies beside the tables. @throws DriverFailure */
  async object(bucket: string, key: string, most: number, signal: AbortSignal): Promise<Buffer> {
    return await this.#settings.object(bucket, key, most, signal);
  }

  /**
   * Reads one row of each table, and the footers of its files where they lie here, through an engine of their own, as a query would later.
   *
   * @returns what is wrong with each, null for nothing
   */
  async preflight(tables: readonly LakeTableFields[], signal: AbortSignal): Promise<(TableFinding | null)[]> {
    const whole = AbortSignal.any([signal, this.#closed.signal]);
    const candidates = tables.map((fields, index) => candidate(fields, index));
    const parts = await this.#settings.parts();
    const engine = await LakeEngine.open(parts, candidates, whole);
    try {
      const findings: (TableFinding | null)[] = [];
      for (const view of engine.views) {
        const reason = await readingProblem(engine, view, parts.tableMs, whole);
        findings.push(reason === null ? null : { reason, isOutside: view.isOutside });
      }
      return findings;
    } finally {
      engine.supersede();
    }
  }

  async close(): Promise<void> {
    this.#closed.abort(new DriverFailure('connection', 'The datasource was closed.'));
    this.#standing?.engine.supersede();
    this.#standing = undefined;
    await Promise.resolve();
  }

  /** The one that stands, unless it is doubtful; one that is only old is replaced behind its readers' backs. */
  #engine(): Promise<LakeEngine> {
    const { refreshMs } = this.#settings;
    const standing = this.#standing;
    if (!standing || standing.engine.suspect || isEnding(standing.engine)) return this.#build();
    if (Date.now() - standing.builtAt > refreshMs) {
      // Who wants to know what went wrong asks when the old one is suspect; until then it serves.
      this.#build().catch(() => undefined);
    }
    return Promise.resolve(standing.engine);
  }

  #build(): Promise<LakeEngine> {
    this.#building ??= this.#buildNow().finally(() => (this.#building = undefined));
    return this.#building;
  }

  async #buildNow(): Promise<LakeEngine> {
    const { signal } = this.#closed;
    signal.throwIfAborted();
    const engine = await LakeEngine.open(await this.#settings.parts(), await this.#registry.tables(), signal);
    try {
      await this.#registry.record(engine.views.map(({ table: { id }, problem }) => ({ id, problem })));
    } catch (error) {
      engine.supersede();
      throw error;
    }
    this.#standing?.engine.supersede();
    this.#standing = { engine, builtAt: Date.now() };
    if (signal.aborted) engine.supersede();
    return engine;
  }
}

/** Whether it could soon not enter its storage any more. */
function isEnding({ validUntil }: LakeEngine): boolean {
  return validUntil !== undefined && validUntil - ENDING_MS < Date.now();
}

/** A registration as the row it would become; one that no engine has a place for stands elsewhere while it is looked at. */
function candidate(fields: LakeTableFields, index: number): LakeTable {
  const namespace = viewSchema(fields.namespace) ? fields.namespace : [`_${index}`];
  return {
    ...fields,
    namespace,
    id: String(index),
    registeredBy: '',
    registeredAt: '',
    lastError: null,
    lastErrorAt: null,
  };
}

/** A row of the table; and of files that are here each footer, because the row comes out of the first. */
async function readingProblem(
  engine: LakeEngine,
  { scan, problem, spentMs }: MadeView,
  tableMs: number,
  whole: AbortSignal,
): Promise<string | null> {
  if (!scan) return problem;
  // What its view took is part of its time.
  const patience = AbortSignal.timeout(Math.max(0, Math.floor(tableMs - spentMs)));
  const signal = AbortSignal.any([whole, patience]);
  const connection = await engine.connect(signal);
  try {
    const ask = (sql: string): Promise<unknown> => connection.catalog({ sql, values: [] }, signal);
    await ask(`SELECT 1 FROM (SELECT * FROM (${scan.sql}) LIMIT ${ROWS})`);
    if (!scan.isRemote) await ask(`SELECT count(*) FROM (${scan.sql})`);
    return null;
  } catch (error) {
    whole.throwIfAborted();
    if (patience.aborted) return tooSlow(tableMs);
    if (error instanceof DriverFailure || error instanceof TableProblem) return error.message;
    throw error;
  } finally {
    await connection.close();
  }
}
