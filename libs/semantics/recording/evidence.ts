import { Injectable } from '@nestjs/common';

import { AuthorRead, classifyProbe, refusalSentence, sqlArgument, type DatasourceRecord } from '#libs/datasources';
import { isPenstockError, PenstockError, type Principal } from '#libs/kernel';
import { lexSql, splitRow } from '#libs/typesystem';

import { firstCharacters, visibleText } from '../rules/fact-text.js';

const ROWS = 5;
const TIMEOUT_MS = 10_000;
const SUMMARY_CHARS = 300;

/** Failures of an evidence query by what they are called in `details.reason`; all others pass as they are. */
const REASONS: Readonly<Record<string, string>> = {
  'pipeline.node.query_timeout': 'timeout',
  'pipeline.node.query_execution_failed': 'query_failed',
  'pipeline.execution.datasource_unreachable': 'unreachable',
  'datasource.lake.table_unavailable': 'table_unavailable',
};

/** Bears a fact out: runs its evidence query once and sums its first rows up (contract 06 §11, step 7). */
@Injectable()
export class Evidence {
  constructor(private readonly reads: AuthorRead) {}

  /**
   * The rows as `k=v, … | …`, at most 300 characters.
   * @throws 400 `semantics.evidence_refused` for a statement that is no plain read or binds a value; 400
   *   `semantics.evidence_failed` with the reason; 429 when the person probes too much at once
   */
  async summary(principal: Principal, source: DatasourceRecord, sql: string, gaveUp?: AbortSignal): Promise<string> {
    refuseShape(source, sql);
    const statement = { sql, binds: new Map(), maxRows: ROWS, timeoutMs: TIMEOUT_MS, explain: false };
    try {
      const { columns, rows } = await this.reads.run(principal, source, 'evidence', statement, gaveUp);
      const names = columns.map(({ name }) => name);
      const shown = rows.map((row) =>
        splitRow(row)
          .map((cell, index) => `${names[index]}=${cellText(cell)}`)
          .join(', '),
      );
      return firstCharacters(visibleText(shown.join(' | ')), SUMMARY_CHARS);
    } catch (error) {
      const reason = isPenstockError(error) ? REASONS[error.code] : undefined;
      if (reason === undefined || !isPenstockError(error)) throw error;
      throw new PenstockError('semantics.evidence_failed', {
        message: `The evidence query failed (${reason}): ${error.message}`,
        details: { reason },
        cause: error,
      });
    }
  }
}

function refuseShape({ dialect }: DatasourceRecord, sql: string): void {
  const text = readable(sql);
  const verdict = classifyProbe(dialect, text);
  if (!verdict.ok) throw refused(verdict.reason, refusalSentence(verdict));
  const bound = lexSql(dialect, text).find(({ kind }) => kind === 'bind' || kind === 'native_placeholder');
  if (bound) throw refused('parameter', 'An evidence query stands for itself: write the values instead of parameters.');
}

function readable(sql: string): string {
  try {
    return sqlArgument(sql, 'evidence_sql');
  } catch (error) {
    if (!isPenstockError(error)) throw error;
    throw refused(String(error.details['reason']), error.message);
  }
}

function refused(reason: string, message: string): PenstockError {
  return new PenstockError('semantics.evidence_refused', { message, details: { reason } });
}

/** A wire token as people read it. */
function cellText(token: string): string {
  return token.startsWith('"') ? (JSON.parse(token) as string) : token;
}
