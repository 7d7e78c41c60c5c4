import type { Dialect } from '#libs/typesystem';

import type { DatasourceRecord } from './datasource.js';

/** A lake reads whole files where a database looks into an index. */
const OF_DIALECT: Partial<Record<Dialect, number>> = { LAKE: 180 };

/** No node runs longer, so no statement does; the clocks of the engines and of the process hold no more than weeks. */
const LONGEST = 86_400;

/** Seconds a statement may take by its datasource, else by its dialect; null: the operator's default (02 §5.1). */
export function statementSecondsOf({
  queryTimeoutSeconds,
  dialect,
}: Pick<DatasourceRecord, 'queryTimeoutSeconds' | 'dialect'>): number | null {
  const own = queryTimeoutSeconds ?? OF_DIALECT[dialect];
  return own === undefined ? null : Math.min(own, LONGEST);
}
