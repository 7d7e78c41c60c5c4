import { literal, TableProblem } from '../tables/table-scan.js';
import type { FileField } from './data-file.js';
import { quoted } from './engine-type.js';
import type { IcebergField, IcebergType } from './iceberg-type.js';
import { initialValue } from './initial-default.js';

/** A column of the table out of what a file stores, found by its id, or what stands for it in an older file. */
export function columnExpression(column: IcebergField, stored: readonly FileField[]): string {
  return memberExpression(column, stored, (name) => quoted(name), 0);
}

function memberExpression(
  field: IcebergField,
  stored: readonly FileField[],
  access: (name: string) => string,
  depth: number,
): string {
  const source = stored.find(({ id }) => id === field.id);
  return source ? expression(field, source, access(source.name), depth) : initialValue(field);
}

/** @throws TableProblem when the file stores it as something that does not become the table's type without loss */
function expression(field: IcebergField, source: FileField, sql: string, depth: number): string {
  const { type } = field;
  if (type.kind !== source.shape) throw mismatch(field, source);
  if (isSame(type, source)) return sql;
  const [first, second] = source.fields;
  const item = `e${depth}`;
  switch (type.kind) {
    case 'primitive':
      return `CAST(${sql} AS ${type.sql})`;
    case 'struct': {
      const members = type.fields.map((member) => {
        const read = (name: string): string => `struct_extract(${sql}, ${literal(name)})`;
        return `${quoted(member.name)} := ${memberExpression(member, source.fields, read, depth)}`;
      });
      return `CASE WHEN ${sql} IS NULL THEN NULL ELSE struct_pack(${members.join(', ')}) END`;
    }
    case 'list':
      return `list_transform(${sql}, lambda ${item}: ${expression(type.element, part(first, field), item, depth + 1)})`;
    case 'map': {
      const key = expression(type.key, part(first, field), `${item}.key`, depth + 1);
      const value = expression(type.value, part(second, field), `${item}.value`, depth + 1);
      return `map_from_entries(list_transform(map_entries(${sql}), lambda ${item}: struct_pack(key := ${key}, value := ${value})))`;
    }
  }
}

function part(stored: FileField | undefined, field: IcebergField): FileField {
  if (!stored) throw new TableProblem(`The column "${field.name}" is stored without its parts.`);
  return stored;
}

/** Whether the file stores exactly the table's type: then nothing is rebuilt, and the engine prunes as it likes. */
function isSame(type: IcebergType, source: FileField): boolean {
  if (type.kind !== source.shape) return false;
  const [first, second] = source.fields;
  const sameField = (field: IcebergField, stored: FileField | undefined): boolean =>
    stored?.id === field.id && isSame(field.type, stored);
  switch (type.kind) {
    case 'primitive':
      refuseLoss(type, source);
      return type.sql === source.type;
    case 'struct':
      return (
        type.fields.length === source.fields.length &&
        type.fields.every((field, index) => {
          const stored = source.fields[index];
          return stored?.name === field.name && sameField(field, stored);
        })
      );
    case 'list':
      return sameField(type.element, first);
    case 'map':
      return sameField(type.key, first) && sameField(type.value, second);
  }
}

/** What a column may have been before, by what the engine reads a file's column as. */
const FROM: Readonly<Record<string, RegExp>> = {
  boolean: /^BOOLEAN$/,
  int: /^(TINYINT|SMALLINT|INTEGER)$/,
  long: /^(TINYINT|SMALLINT|INTEGER|BIGINT)$/,
  float: /^FLOAT$/,
  double: /^(FLOAT|DOUBLE)$/,
  date: /^DATE$/,
  time: /^TIME$/,
  timestamp: /^(TIMESTAMP|TIMESTAMP_MS|TIMESTAMP_S|TIMESTAMP WITH TIME ZONE|DATE)$/,
  timestamptz: /^(TIMESTAMP|TIMESTAMP_MS|TIMESTAMP_S|TIMESTAMP WITH TIME ZONE)$/,
  timestamp_ns: /^(TIMESTAMP|TIMESTAMP_NS|DATE)$/,
  string: /^(VARCHAR|JSON|ENUM.*)$/,
  uuid: /^UUID$/,
  binary: /^BLOB$/,
  fixed: /^BLOB$/,
};
const DECIMAL = /^DECIMAL\((\d+),(\d+)\)$/;

function refuseLoss(type: Extract<IcebergType, { kind: 'primitive' }>, source: FileField): void {
  const stored = source.type ?? '';
  const [, width, scale] = DECIMAL.exec(type.sql) ?? [];
  if (width === undefined) {
    if (FROM[type.name]?.test(stored) === true) return;
  } else {
    const [, storedWidth, storedScale] = DECIMAL.exec(stored) ?? [];
    if (scale === storedScale && Number(storedWidth) <= Number(width)) return;
  }
  throw new TableProblem(`The column "${source.name}" is ${stored} in a data file and ${type.sql} in the table.`);
}

function mismatch(field: IcebergField, source: FileField): TableProblem {
  return new TableProblem(
    `The column "${field.name}" is a ${field.type.kind} in the table and a ${source.shape} in a data file.`,
  );
}
