import { Injectable } from '@nestjs/common';
import { Configuration, isPenstockError, type JsonObject } from '#libs/kernel';
import {
  BoundedProbe,
  type BoundedRows,
  DatasourceAccess,
  type DatasourceRecord,
  DriverFailure,
  statementSecondsOf,
} from '#libs/datasources';
import { bindParameters, type CheckDeclaration, encodeContext, type PipelineDocument } from '#libs/pipelines';
import { lexSql, splitRow, type TypedValue } from '#libs/typesystem';
import { rowsToRead } from './expectation.js';
import { judge, type Judgement, type Observation } from './judge.js';

/** Most bytes of rows that one check reads. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Longest message of a run, in characters (contract 01 §9). */
const MAX_MESSAGE_CHARS = 500;

const STOPPED = 'Stopped: the time for all checks was used up, or the caller left.';

/** What became of one check. */
export interface CheckOutcome extends Judgement {
  check: CheckDeclaration;
  /** The bound values in wire form, as JSON text; `{}` when binding failed. */
  parametersJson: string;
  /** Null when binding failed. */
  durationMs: number | null;
}

export interface CheckPlan {
  workspaceId: string;
  document: PipelineDocument;
  /** Values of the request, before those of each check. */
  supplied: JsonObject;
  signal: AbortSignal;
}

/** Runs checks one after another; whatever goes wrong with one is its verdict, never an error of the whole. */
@Injectable()
export class CheckRunner {
  readonly #timeoutSeconds: number;

  constructor(
    private readonly datasources: DatasourceAccess,
    private readonly probe: BoundedProbe,
    configuration: Configuration,
  ) {
    this.#timeoutSeconds = configuration.get('datapipelines.executor.node-query-timeout-seconds');
  }

  /** The datasources are looked up once for all checks. Each outcome is given as soon as it is there. */
  async *run(plan: CheckPlan): AsyncGenerator<CheckOutcome> {
    const { checks } = plan.document;
    if (checks.length === 0) return;
    const names = [...new Set(checks.map(({ datasource }) => datasource))];
    const sources = await this.datasources.visible(plan.workspaceId, names);
    for (const check of checks) yield await this.#one(check, sources.get(check.datasource), plan);
  }

  async #one(check: CheckDeclaration, source: DatasourceRecord | undefined, plan: CheckPlan): Promise<CheckOutcome> {
    const unbound = { check, parametersJson: '{}', durationMs: null };
    if (!source) return { ...unbound, ...failure('The datasource does not exist, or this workspace may not use it.') };
    const bound = bindParameters(named(plan.document, check, source), { ...check.parameters, ...given(plan.supplied) });
    if (!bound.ok) return { ...unbound, ...failure(bound.failures.map(({ message }) => message).join(' ')) };
    const parametersJson = encodeContext(bound.values);
    if (plan.signal.aborted) return { ...unbound, parametersJson, ...failure(STOPPED) };
    const started = performance.now();
    const judgement = await this.#judged(check, source, bound.values, plan);
    return { check, parametersJson, durationMs: Math.round(performance.now() - started), ...judgement };
  }

  async #judged(
    check: CheckDeclaration,
    source: DatasourceRecord,
    binds: ReadonlyMap<string, TypedValue>,
    { document, signal }: CheckPlan,
  ): Promise<Judgement> {
    const seconds = document.settings.queryTimeoutSeconds ?? statementSecondsOf(source) ?? this.#timeoutSeconds;
    const bounds = { maxRows: rowsToRead(check.expected), maxBytes: MAX_BYTES, timeoutMs: seconds * 1000, signal };
    try {
      return judge(check.expected, observation(await this.probe.read(source, { sql: check.sql, binds }, bounds)));
    } catch (error) {
      if (signal.aborted) return failure(STOPPED);
      if (isPenstockError(error) || error instanceof DriverFailure) return failure(error.message);
      throw error;
    }
  }
}

/** The document with only those parameters that the check binds: others cannot fail it. */
function named(document: PipelineDocument, { sql }: CheckDeclaration, { dialect }: DatasourceRecord) {
  const names = new Set(lexSql(dialect, sql).flatMap(({ kind, text }) => (kind === 'bind' ? [text.slice(1)] : [])));
  return { parameters: new Map([...document.parameters].filter(([name]) => names.has(name))) };
}

function given(supplied: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(supplied).filter(([, value]) => value !== null));
}

function observation({ columns, rows, truncated }: BoundedRows): Observation {
  const token = rows[0] === undefined ? undefined : splitRow(rows[0])[0];
  return { columnCount: columns.length, rowCount: rows.length, truncated, cell: cellText(token) };
}

/** The text of a wire token: numbers of many digits travel as strings. */
function cellText(token: string | undefined): string | null {
  if (token === undefined || token === 'null') return null;
  return token.startsWith('"') ? (JSON.parse(token) as string) : token;
}

function failure(message: string): Judgement {
  return { verdict: 'error', observed: null, message: message.slice(0, MAX_MESSAGE_CHARS) };
}
