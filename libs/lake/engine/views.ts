import type { DuckDBInstance } from '@duckdb/node-api';

import { DriverFailure, type NativeCalls } from '#libs/datasources';

import type { LakeTable } from '../registry/lake-table.js';
import { parseLocation } from '../registry/location.js';
import { OutsideRoots } from '../tables/inside-roots.js';
import { TableProblem, type TableResolver, type TableScan } from '../tables/table-scan.js';
import { runAll, withSession } from './engine-session.js';
import { isFirstDatabase, NO_PLACE, qualifiedSchema, qualifiedView, viewSchema } from './view-names.js';

/** Tables that are looked at side by side. */
const AT_ONCE = 4;
/** Longest text that is kept of what went wrong. */
const MAX_PROBLEM = 2000;

/** One table after its view was made, or not. */
export interface MadeView {
  table: LakeTable;
  scan: TableScan | undefined;
  /** Null = the view stands. */
  problem: string | null;
  /** The problem is a place that this server reads nothing of. */
  isOutside: boolean;
  /** How long it took to look at the files. */
  spentMs: number;
}

export interface ViewMaker {
  instance: DuckDBInstance;
  calls: NativeCalls;
  resolver: TableResolver;
  /** How long one table may take; another's slowness costs it nothing. */
  tableMs: number;
  /** Ends the making as a whole. */
  signal: AbortSignal;
}

/** Makes the views one by one: a table that cannot be read leaves the others alone (06 §10). */
export async function makeViews(maker: ViewMaker, tables: readonly LakeTable[]): Promise<MadeView[]> {
  await makeSchemas(maker, tables);
  const made: MadeView[] = [];
  const waiting = tables.entries();
  const worker = async (): Promise<void> => {
    for (const [index, table] of waiting) made[index] = await makeView(maker, table);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  if (maker.signal.aborted) {
    releaseFiles(made);
    maker.signal.throwIfAborted();
  }
  return made;
}

/** What is told of a table that takes too long. */
export function tooSlow(tableMs: number): string {
  return `The files could not be looked at within ${tableMs / 1000} s (datapipelines.lake.table-timeout-seconds).`;
}

/** No engine needs the files of these views any more. */
export function releaseFiles(views: readonly MadeView[]): void {
  for (const { scan } of views) scan?.release?.();
}

async function makeView(maker: ViewMaker, table: LakeTable): Promise<MadeView> {
  const begun = performance.now();
  const patience = AbortSignal.timeout(maker.tableMs);
  const signal = AbortSignal.any([maker.signal, patience]);
  try {
    const scan = await scanned(maker, table, signal);
    return { table, scan, problem: null, isOutside: false, spentMs: performance.now() - begun };
  } catch (error) {
    const problem = patience.aborted ? tooSlow(maker.tableMs) : textOf(error);
    const isOutside = error instanceof OutsideRoots;
    return { table, scan: undefined, problem: keepable(problem), isOutside, spentMs: performance.now() - begun };
  }
}

async function scanned(maker: ViewMaker, table: LakeTable, signal: AbortSignal): Promise<TableScan> {
  const schema = viewSchema(table.namespace);
  if (!schema) throw new TableProblem(NO_PLACE);
  const defect = parseLocation(table.location);
  if (typeof defect === 'string') throw new TableProblem(`The location is not acceptable (${defect}).`);
  return await withSession(maker.instance, maker.calls, async (session) => {
    const scan = await maker.resolver.resolve(table, {
      signal,
      query: (sql) => session.catalog({ sql, values: [] }, signal),
    });
    try {
      await runAll(session, [`CREATE VIEW ${qualifiedView(schema, table)} AS ${scan.sql}`], signal);
      return scan;
    } catch (error) {
      scan.release?.();
      throw error;
    }
  });
}

/** A schema that cannot be made shows at each of its tables. */
async function makeSchemas({ instance, calls, signal }: ViewMaker, tables: readonly LakeTable[]): Promise<void> {
  const schemas = tables.flatMap(({ namespace }) => viewSchema(namespace) ?? []);
  const catalogs = new Set(schemas.map(({ catalog }) => catalog).filter((catalog) => !isFirstDatabase(catalog)));
  const statements = [
    ...[...catalogs].map((catalog) => `ATTACH ':memory:' AS "${catalog}"`),
    ...new Set(schemas.map((schema) => `CREATE SCHEMA IF NOT EXISTS ${qualifiedSchema(schema)}`)),
  ];
  for (const statement of statements) {
    try {
      await withSession(instance, calls, (session) => runAll(session, [statement], signal));
    } catch (error) {
      if (!(error instanceof DriverFailure) || error.kind === 'cancelled') throw error;
    }
  }
}

/** Names and messages come from files and services of others; no database keeps U+0000 in a text. */
function keepable(problem: string): string {
  return problem.replaceAll('\u0000', '\uFFFD').slice(0, MAX_PROBLEM).toWellFormed();
}

function textOf(error: unknown): string {
  if (error instanceof TableProblem || error instanceof DriverFailure) return error.message;
  return error instanceof Error
    ? `The files could not be looked at: ${error.message}`
    : 'The files could not be looked at.';
}
