import { FOOTER_COLUMNS, readFooters, type FooterNode } from '../tables/footer-node.js';
import { literal, plainPath, TableProblem, type ScanSurroundings } from '../tables/table-scan.js';
import type { NameMapping } from './table-metadata.js';

/** A field of a data file, as its footer has it. */
export interface FileField {
  name: string;
  id: number | null;
  /** The engine's type; null for what is nested. */
  type: string | null;
  shape: 'primitive' | 'struct' | 'list' | 'map';
  /** Of a struct; the element of a list; key and value of a map. */
  fields: readonly FileField[];
}

export interface DataFile {
  path: string;
  fields: readonly FileField[];
}

/** Reads the fields of every file from its footer. A file may be named twice. */
export async function readDataFiles(paths: readonly string[], { query }: ScanSurroundings): Promise<DataFile[]> {
  if (paths.length === 0) return [];
  const list = [...new Set(paths)].map((path) => literal(plainPath(path))).join(', ');
  const rows = await query(`SELECT ${FOOTER_COLUMNS} FROM parquet_schema([${list}]) ORDER BY file_name, column_id`);
  const footers = readFooters(rows);
  return paths.map((path) => {
    const footer = footers.get(path);
    if (!footer) throw new TableProblem('A data file has no footer that can be read.');
    return { path, fields: footer.children.map((child) => fieldOf(child)) };
  });
}

/** Lists and maps in the three levels that are the standard; older forms have no place for the ids. */
function fieldOf(node: FooterNode): FileField {
  const { name, id, type, kind, children } = node;
  if (node.repeated) throw olderForm(name);
  const field = (shape: FileField['shape'], fields: readonly FooterNode[]): FileField => ({
    name,
    id,
    type: shape === 'primitive' ? type : null,
    shape,
    fields: fields.map(fieldOf),
  });
  if (children.length === 0) return field('primitive', []);
  const isList = kind.startsWith('LIST') || kind.startsWith('ListType');
  const isMap = kind.startsWith('MAP') || kind.startsWith('MapType');
  if (!isList && !isMap) return field('struct', children);
  const [middle, ...others] = children;
  if (!middle?.repeated || others.length > 0 || middle.children.length !== (isMap ? 2 : 1)) throw olderForm(name);
  return field(isMap ? 'map' : 'list', middle.children);
}

function olderForm(name: string): TableProblem {
  return new TableProblem(`The column "${name}" is stored in an older form of lists and maps, which has no field ids.`);
}

/**
 * The file's fields with their ids: its own, or for a file without any those of the name mapping.
 *
 * @throws TableProblem when ids are missing in part, or names differ in case only and the engine could take the wrong one
 */
export function identified({ fields }: DataFile, mapping: NameMapping | undefined): readonly FileField[] {
  refuseAmbiguous(fields);
  const ids = every(fields).map(({ id }) => id);
  if (ids.every((id) => id !== null)) return fields;
  if (ids.some((id) => id !== null)) throw new TableProblem('A data file has field ids for some of its columns only.');
  if (!mapping) throw new TableProblem('A data file has no field ids and the table has no name mapping.');
  return fields.map((field) => mapped(field, mapping));
}

const PARTS = { primitive: [], struct: undefined, list: ['element'], map: ['key', 'value'] } as const;

function mapped(field: FileField, mapping: NameMapping, called: string = field.name): FileField {
  const known = mapping.get(called);
  const inside: NameMapping = known?.inside ?? new Map();
  const parts = PARTS[field.shape];
  return {
    ...field,
    id: known?.id ?? null,
    fields: field.fields.map((inner, index) => mapped(inner, inside, parts?.[index] ?? inner.name)),
  };
}

function every(fields: readonly FileField[]): FileField[] {
  return fields.flatMap((field) => [field, ...every(field.fields)]);
}

function refuseAmbiguous(fields: readonly FileField[]): void {
  const names = new Set<string>();
  for (const { name, fields: inner, shape } of fields) {
    if (names.has(name.toLowerCase())) throw new TableProblem(`A data file has several columns named "${name}".`);
    names.add(name.toLowerCase());
    if (shape === 'struct') refuseAmbiguous(inner);
    else for (const each of inner) refuseAmbiguous(each.fields);
  }
}
