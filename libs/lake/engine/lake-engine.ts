import { access, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { DuckDBInstance } from '@duckdb/node-api';

import { DriverFailure, duckdbFailure, type NativeCalls } from '#libs/datasources';
import { writeJson } from '#libs/kernel';

import { dottedName, type LakeTable } from '../registry/lake-table.js';
import type { OpenEngine } from '../s3/httpfs.js';
import { literal, type TableResolver } from '../tables/table-scan.js';
import { FROM_THE_START, firstSettings, lastSettings } from './engine-settings.js';
import { runAll, withSession } from './engine-session.js';
import { LakeConnection } from './lake-connection.js';
import { qualifiedSchema, REGISTRY_COPY, viewSchema } from './view-names.js';
import { makeViews, releaseFiles, type MadeView } from './views.js';

export interface EngineParts {
  calls: NativeCalls;
  /** Whose storage it reads: the address of a bucket object may be another object's to another datasource. */
  storage: string;
  /** Prepares the engine for its storage, and says who finds the files of its tables and until when it can enter. */
  resolverFor(engine: OpenEngine): Promise<{ resolver: TableResolver; validUntil: number | undefined }>;
  /** How long one table may take, in milliseconds. */
  tableMs: number;
  memoryMb: number;
  threads: number;
  /** Where the engine's own folder is made. */
  spillFolder: string;
  attachments: readonly { alias: string; file: string }[];
}

/**
 * One in-memory engine with a view per table, shut off from everything but the tables' files (06 §10). It closes when
 * it has been superseded and its last connection is gone.
 */
export class LakeEngine {
  /** What came of each table. */
  readonly views: readonly MadeView[];
  readonly #instance: DuckDBInstance;
  readonly #calls: NativeCalls;
  readonly #folder: string;
  /** Where unqualified names are looked for: the one namespace, if there is only one. */
  readonly #home: string | null;
  readonly #broken: ReadonlyMap<string, string>;
  #sessions = 0;
  #superseded = false;
  #suspect = false;

  private constructor(
    instance: DuckDBInstance,
    calls: NativeCalls,
    folder: string,
    views: readonly MadeView[],
    /** When what it enters its storage with ends, in milliseconds since 1970. */
    readonly validUntil: number | undefined,
  ) {
    this.#instance = instance;
    this.#calls = calls;
    this.#folder = folder;
    this.views = views;
    const schemas = new Set(
      views.flatMap(({ table }) => viewSchema(table.namespace) ?? []).map((schema) => qualifiedSchema(schema)),
    );
    this.#home = schemas.size === 1 ? ([...schemas][0] ?? null) : null;
    this.#broken = new Map(
      views.flatMap(({ table, problem }) => (problem === null ? [] : [[dottedName(table), problem]])),
    );
  }

  /** @throws DriverFailure when the engine itself cannot be made; a table's failure is in {@link views} */
  static async open(parts: EngineParts, tables: readonly LakeTable[], signal: AbortSignal): Promise<LakeEngine> {
    let folder: string | undefined;
    let instance: DuckDBInstance | undefined;
    try {
      await mkdir(parts.spillFolder, { recursive: true });
      folder = await mkdtemp(join(parts.spillFolder, 'lake-'));
      instance = await DuckDBInstance.create(':memory:', FROM_THE_START);
      const { views, validUntil } = await prepare(instance, parts, folder, tables, signal);
      return new LakeEngine(instance, parts.calls, folder, views, validUntil);
    } catch (error) {
      instance?.closeSync();
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
      throw signal.aborted ? signal.reason : unbuilt(duckdbFailure(error));
    }
  }

  get superseded(): boolean {
    return this.#superseded;
  }

  /** Files went that stood when the views were made: look again before the next query. */
  get suspect(): boolean {
    return this.#suspect;
  }

  suspected(): void {
    this.#suspect = true;
  }

  async suspectedIfFilesWent(): Promise<void> {
    const paths = this.views.flatMap(({ scan }) => scan?.paths ?? []);
    for (const path of paths) {
      if (this.#suspect) return;
      await access(path).catch(() => this.suspected());
    }
  }

  /** Why a table cannot be queried; the name as the registry has it. */
  brokenTables(): ReadonlyMap<string, string> {
    return this.#broken;
  }

  async connect(signal: AbortSignal): Promise<LakeConnection> {
    this.#sessions += 1;
    try {
      const connection = new LakeConnection(await this.#instance.connect(), this.#calls, this, () => this.#left());
      if (this.#home !== null) await runAll(connection, [`USE ${this.#home}`], signal);
      return connection;
    } catch (error) {
      this.#left();
      throw duckdbFailure(error);
    }
  }

  /** Serves nobody new; what is running may finish. */
  supersede(): void {
    if (this.#superseded) return;
    this.#superseded = true;
    this.#closeIfDone();
  }

  #left(): void {
    this.#sessions -= 1;
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (!this.#superseded || this.#sessions > 0) return;
    this.#instance.closeSync();
    releaseFiles(this.views);
    void rm(this.#folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** An engine that cannot be made cannot be reached, whatever the engine calls the reason (06 §10). */
function unbuilt(failure: DriverFailure): DriverFailure {
  const { kind, message, driverCode } = failure;
  if (kind === 'connection' || kind === 'cancelled' || kind === 'timeout') return failure;
  return new DriverFailure('connection', message, { driverCode: driverCode ?? kind, cause: failure });
}

async function prepare(
  instance: DuckDBInstance,
  parts: EngineParts,
  temporaryDirectory: string,
  tables: readonly LakeTable[],
  signal: AbortSignal,
): Promise<{ views: MadeView[]; validUntil: number | undefined }> {
  const { calls, resolverFor, attachments } = parts;
  return await withSession(instance, calls, async (session) => {
    const global = (settings: readonly string[]): string[] => settings.map((setting) => `SET GLOBAL ${setting}`);
    await runAll(session, global(firstSettings({ ...parts, temporaryDirectory })), signal);
    const attach = attachments.map(({ alias, file }) => `ATTACH ${literal(file)} AS "${alias}" (READ_ONLY)`);
    await runAll(session, attach, signal);
    const { resolver, validUntil } = await resolverFor({
      run: (statements) => runAll(session, statements, signal),
      query: (sql) => session.catalog({ sql, values: [] }, signal),
    });
    const views = await makeViews({ instance, calls, resolver, tableMs: parts.tableMs, signal }, tables);
    try {
      await runAll(session, [...registryCopy(views, parts.storage), ...global(closing(views))], signal);
    } catch (error) {
      releaseFiles(views);
      throw error;
    }
    return { views, validUntil };
  });
}

/** What shuts the engine off from all but the files of its views. */
function closing(views: readonly MadeView[]): string[] {
  const scans = views.flatMap(({ scan }) => scan ?? []);
  return lastSettings(
    scans.flatMap(({ directories }) => directories),
    scans.flatMap(({ paths }) => paths),
  );
}

/** The registry as the engine was built from it, for introspection and statistics. */
function registryCopy(views: readonly MadeView[], storage: string): string[] {
  const rows = views.map(({ table, scan, problem }) => {
    const cells = [
      table.id,
      writeJson([...table.namespace]),
      table.name,
      table.format,
      table.partitionColumn,
      scan?.files,
      storage,
      scan?.statistics && writeJson({ ...scan.statistics }),
      problem,
    ];
    return `(${cells.map((cell) => (cell == null ? 'NULL' : literal(cell))).join(', ')})`;
  });
  return [
    'CREATE SCHEMA memory.__dp',
    `CREATE TABLE ${REGISTRY_COPY} (id VARCHAR, namespace VARCHAR, name VARCHAR, format VARCHAR, partition_column VARCHAR, files VARCHAR, storage VARCHAR, statistics VARCHAR, problem VARCHAR)`,
    ...(rows.length > 0 ? [`INSERT INTO ${REGISTRY_COPY} VALUES ${rows.join(', ')}`] : []),
  ];
}
