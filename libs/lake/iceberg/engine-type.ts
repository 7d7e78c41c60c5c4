import { quoteIdentifier } from '#libs/typesystem';

import type { IcebergType } from './iceberg-type.js';

export function quoted(name: string): string {
  return quoteIdentifier('DUCKDB', name);
}

/** The engine's type of a column, as DDL has it. */
export function engineType(type: IcebergType): string {
  switch (type.kind) {
    case 'primitive':
      return type.sql;
    case 'list':
      return `${engineType(type.element.type)}[]`;
    case 'map':
      return `MAP(${engineType(type.key.type)}, ${engineType(type.value.type)})`;
    case 'struct':
      return `STRUCT(${type.fields.map((field) => `${quoted(field.name)} ${engineType(field.type)}`).join(', ')})`;
  }
}
