import type { Failure } from '#libs/kernel';

import type { UnreadableTable } from '../preflight.js';

/**
 * Why a table is not registered: its location is outside the file roots, or its files cannot be read (06 §10).
 *
 * @param place where the table stands in the request, like `tables[3]`; empty for a request that is the table
 */
export function tableFailure({ table, reason, isOutside }: UnreadableTable, place: string): Failure {
  if (isOutside)
    return {
      code: 'datasource.validation.lake_location_invalid',
      path: place === '' ? 'location' : `${place}.location`,
      message: reason,
      details: { table, reason: 'file_root' },
    };
  return {
    code: 'datasource.validation.lake_table_unreadable',
    path: place === '' ? 'location' : place,
    message: `The table "${table}" cannot be read: ${reason}`,
    details: { table, reason },
  };
}
