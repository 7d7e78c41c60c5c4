import type { Dialect } from '#libs/typesystem';

import type { DatasourceRecord } from './datasource.js';

/** A lake reads whole files where a database looks into an index. */
const OF_DIALECT: Partial<Record<Dialect, number>> = { LAKE: 180 };

/** Seconds a statement may take by its datasource, else by its dialect; null: the operator's default (02 §5.1). */
export function statementSecondsOf({
  queryTimeoutSeconds,
  dialect,
}: Pick<DatasourceRecord, 'queryTimeoutSeconds' | 'dialect'>): number | null {
  return queryTimeoutSeconds ?? OF_DIALECT[dialect] ?? null;
}
