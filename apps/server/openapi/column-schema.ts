import type { ColumnType } from '#libs/typesystem';
import type { JsonSchema } from './json-schema.js';

type Sized = Pick<ColumnType, 'precision' | 'scale'> & { type: string };

/** The wire form of a value of a canonical type (contract 01 §5.2). */
export function valueSchema({ type, precision, scale }: Sized): JsonSchema {
  const form = FORMS[type] ?? {};
  if (type !== 'DECIMAL' && type !== 'BIGDECIMAL') return form;
  const size = [precision, scale].filter((each) => each !== undefined).join(', ');
  return size === '' ? form : { ...form, description: `${type}(${size})` };
}

/** A cell: NULL is null, unless the column says it has none. */
export function cellSchema(column: Sized & { name: string; nullable?: boolean }): JsonSchema {
  const { type, ...rest } = valueSchema(column);
  const open = column.nullable === false || type === undefined || type === 'null';
  return { title: column.name, ...(type === undefined ? {} : { type: open ? type : [type, 'null'] }), ...rest };
}

const FORMS: Readonly<Record<string, JsonSchema>> = {
  NULL: { type: 'null' },
  BOOLEAN: { type: 'boolean' },
  INTEGER: { type: 'integer', format: 'int32' },
  BIGINTEGER: { type: 'string', format: 'int64', pattern: '^-?[0-9]+$', description: 'BIGINTEGER: exact, as text' },
  DECIMAL: { type: 'number' },
  BIGDECIMAL: { type: 'string', format: 'decimal', description: 'BIGDECIMAL: exact, as text' },
  STRING: { type: 'string' },
  BINARY: { type: 'string', contentEncoding: 'base64' },
  DATE: { type: 'string', format: 'date' },
  TIME: { type: 'string', format: 'time' },
  TIMESTAMP: { type: 'string', format: 'date-time' },
};
