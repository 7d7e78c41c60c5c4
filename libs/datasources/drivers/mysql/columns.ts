import { mapMysqlField, MYSQL_TYPE, type Column } from '#libs/typesystem';

import type { MappingWarning } from '../driver.js';
import { cellReader, type CellReader } from './binary-row.js';
import type { FieldPacket } from './client.js';

const UNSIGNED = 1 << 5;
const ENUM = 1 << 8;
const SET = 1 << 11;
/** Character set number of bytes. */
const BINARY = 63;

const NAMES = new Map(Object.entries(MYSQL_TYPE).map(([name, type]) => [type as number, name]));

/** One result column: what it is to the reader of the cursor, and how its cells are copied. */
export class ResultColumn {
  readonly column: Column;
  readonly read: CellReader;
  readonly #unknown: string | undefined;
  #unrepresentable = 0;

  constructor(field: FieldPacket, tinyIsBoolean: boolean) {
    const unsigned = (field.flags & UNSIGNED) !== 0;
    const description = {
      type: field.columnType,
      length: field.columnLength,
      decimals: field.decimals,
      unsigned,
      binary: field.characterSet === BINARY,
      enumerated: (field.flags & (ENUM | SET)) !== 0,
    };
    const { type, warning } = mapMysqlField(description, tinyIsBoolean);
    const sourceType = NAMES.get(field.columnType) ?? `type ${field.columnType}`;
    this.column = { name: field.name, ...type, sourceType };
    this.#unknown = warning && sourceType;
    this.read = cellReader({
      type: field.columnType,
      unsigned,
      onUnrepresentable: () => void (this.#unrepresentable += 1),
    });
  }

  /** Complete once the last row was read. */
  get warnings(): MappingWarning[] {
    const { name: column } = this.column;
    const warnings: MappingWarning[] = [];
    if (this.#unknown !== undefined)
      warnings.push({ code: 'type_mapping.unknown_source_type', column, source_type: this.#unknown });
    if (this.#unrepresentable > 0)
      warnings.push({ code: 'type_mapping.value_unrepresentable', column, count: this.#unrepresentable });
    return warnings;
  }
}
