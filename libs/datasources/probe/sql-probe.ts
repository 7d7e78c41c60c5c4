import { Injectable } from '@nestjs/common';

import { authorise } from '#libs/identity';
import { PenstockError, type JsonObject, type Principal } from '#libs/kernel';
import { lexSql, type TypedValue } from '#libs/typesystem';

import type { DatasourceRecord } from '../datasource.js';
import { CatalogReader } from '../introspection/catalog-reader.js';
import { AuthorRead } from './author-read.js';
import { classifyProbe } from './classify-probe.js';
import { clampedArgument, parameterArguments, refusedArgument, sqlArgument } from './probe-arguments.js';
import { previewView, type ProbeView } from './probe-view.js';
import { refusalSentence } from './refusal-sentence.js';

export interface ProbeRequest {
  /** One statement that reads, at most 64 KiB; `:name` binds a parameter. */
  sql: string;
  /** `{name: {type, precision?, scale?, value}}`, numbers exact. */
  parameters?: JsonObject | undefined;
  /** 50 unless told; above 500 it is cut to 500. */
  limit?: number | undefined;
  /** 10 unless told; above 30 it is cut to 30. */
  timeout_seconds?: number | undefined;
}

const LIMIT = { preset: 50, most: 500 };
const SECONDS = { preset: 10, most: 30 };

/** A reading statement of an author's own, run once on a live datasource (06 §9). */
@Injectable()
export class SqlProbe {
  constructor(
    private readonly catalogs: CatalogReader,
    private readonly reads: AuthorRead,
  ) {}

  /**
   * @throws 400 `pipeline.execution.invalid_parameter_type` for a refused statement or argument (the doors' own word for
   *   a wrong argument), 400 `pipeline.node.standalone_execution_refused` for `tempdb`; else as {@link AuthorRead.run}
   */
  async run(principal: Principal, name: string, request: ProbeRequest, gaveUp?: AbortSignal): Promise<ProbeView> {
    authorise(principal, 'datasource.probe');
    if (name === 'tempdb') throw stagingRefused();
    const source = await this.catalogs.visible(principal, 'datasource.probe', name);
    const sql = sqlArgument(request.sql);
    const maxRows = clampedArgument('limit', request.limit, LIMIT.preset, LIMIT.most);
    const seconds = clampedArgument('timeout_seconds', request.timeout_seconds, SECONDS.preset, SECONDS.most);
    const verdict = classifyProbe(source.dialect, sql);
    if (!verdict.ok) throw refusedArgument('sql', verdict.reason, refusalSentence(verdict));
    const binds = parameterArguments(request.parameters);
    refuseUnsupplied(source, sql, binds);
    const statement = { sql, binds, maxRows, timeoutMs: seconds * 1000, explain: true };
    const { plan, wallMs, ...rows } = await this.reads.run(principal, source, 'sql_probe', statement, gaveUp);
    return { ...previewView(rows), wall_ms: wallMs, plan };
  }
}

function refuseUnsupplied({ dialect }: DatasourceRecord, sql: string, binds: ReadonlyMap<string, TypedValue>): void {
  const tokens = lexSql(dialect, sql);
  if (tokens.some(({ kind }) => kind === 'native_placeholder')) {
    throw refusedArgument('sql', 'native_placeholder', 'Write :name for a parameter, not a placeholder of the driver.');
  }
  const missing = tokens.find(({ kind, text }) => kind === 'bind' && !binds.has(text.slice(1)));
  if (!missing) return;
  const name = missing.text.slice(1);
  throw refusedArgument(`parameters.${name}`, 'missing', `The statement binds :${name}; give it in “parameters”.`);
}

function stagingRefused(): PenstockError {
  return new PenstockError('pipeline.node.standalone_execution_refused', {
    message: 'tempdb exists only inside an execution; probe a registered datasource.',
    details: { reason: 'tempdb_source' },
  });
}
