import { mapPostgresType, type Column } from '#libs/typesystem';

import type { MappingWarning } from '../driver.js';
import { BINARY_READERS, readText, type ColumnReader } from './binary-values.js';
import type { FieldDescription, ResultFormat } from './messages.js';
import type { TypeNames } from './type-names.js';

/** One result column: what it is to the reader of the cursor, and how it is asked for and copied. */
export interface ResultColumn {
  column: Column;
  format: ResultFormat;
  read: ColumnReader;
  warning: MappingWarning | undefined;
}

/** Type kinds of `pg_type` whose printed form is their value: enum, range, multirange. */
const PRINTED_KINDS = new Set(['e', 'r', 'm']);

/** Binary where a reader exists, else text (02 §15). */
export function describeResult(field: FieldDescription, types: TypeNames): ResultColumn {
  const known = types.get(field.typeOid);
  const printed = known !== undefined && (PRINTED_KINDS.has(known.kind) || known.category === 'A');
  const { type, warning } = mapPostgresType(field.typeOid, field.typeModifier, printed);
  const sourceType = known?.name;
  const binary = BINARY_READERS.get(field.typeOid);
  return {
    column: { name: field.name, ...type, ...(sourceType === undefined ? {} : { sourceType }) },
    format: binary ? 1 : 0,
    read: binary ?? readText,
    warning: warning && {
      code: warning,
      column: field.name,
      source_type: sourceType ?? `oid ${field.typeOid}`,
    },
  };
}
