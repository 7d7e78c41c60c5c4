import { isJsonObject, toWireStamp, type Failure, type JsonValue } from '#libs/kernel';
import { readReleaseMark, type ReleaseMark } from '#libs/lifecycle';
import type { Dialect } from '#libs/typesystem';
import { refKey, type TemplateImport } from '../pinned-template.js';
import { readImports } from '../template-catalog.js';
import { readTemplateFields, wholeNumber, type TemplateBody, type TemplateFields } from '../template-fields.js';
import type { TemplateVersionRow } from '../template.repository.js';

/** A released version as a file holds it: what its author wrote, and what identifies the release (contract 05 §12). */
export interface TemplateFile {
  schema_version: 1;
  id: string;
  engine: 'freemarker';
  type: 'sql';
  dialect: Dialect;
  display_name: string;
  description: string;
  imports: readonly TemplateImport[];
  is_library: boolean;
  body: string;
  version: number;
  status: string;
  body_hash: string;
  released_at: string | null;
}

/** A file entry that could be read, and where it stood in the file. */
export interface ReadTemplateFile {
  path: string;
  name: string;
  fields: TemplateFields & { dialect: Dialect };
  mark: ReleaseMark;
}

export function templateFile(row: TemplateVersionRow): TemplateFile {
  return {
    schema_version: 1,
    id: row.name,
    engine: 'freemarker',
    type: 'sql',
    dialect: row.dialect,
    display_name: row.displayName,
    description: row.description,
    imports: readImports(row.imports),
    is_library: row.isLibrary,
    body: row.body,
    version: row.version,
    status: row.status,
    body_hash: row.bodyHash,
    released_at: row.releasedAt === null ? null : toWireStamp(row.releasedAt),
  };
}

/** Reads the entries of a file with everything that is wrong in them; `path` is where the list stands. */
export function readTemplateFiles(
  path: string,
  entries: JsonValue | undefined,
  maxEntries: number,
): { files: ReadTemplateFile[]; failures: Failure[] } {
  const refuse = (message: string): { files: ReadTemplateFile[]; failures: Failure[] } => ({
    files: [],
    failures: [
      {
        code: 'pipeline.execution.invalid_parameter_type',
        path,
        message,
        details: { field: path, reason: 'field' },
      },
    ],
  });
  if (!Array.isArray(entries)) return refuse(`"${path}" must be a list of exported templates.`);
  if (entries.length > maxEntries) return refuse(`"${path}" may hold ${maxEntries} templates at most: split the file.`);
  const failures: Failure[] = [];
  const files: ReadTemplateFile[] = [];
  for (const [index, entry] of entries.entries()) {
    const read = readEntry(`${path}[${index}]`, entry);
    failures.push(...read.failures);
    if (read.file) files.push(read.file);
  }
  return { files: librariesFirst(files), failures: [...failures, ...repeated(files)] };
}

function readEntry(path: string, entry: JsonValue): { file?: ReadTemplateFile; failures: Failure[] } {
  if (!isJsonObject(entry)) {
    const details = { field: path, reason: 'field' };
    const message = `"${path}" must be an object.`;
    return { failures: [{ code: 'pipeline.execution.invalid_parameter_type', path, message, details }] };
  }
  const given: TemplateBody = entry;
  // An import never invents a name: reading as an update demands the id.
  const { fields, failures } = readTemplateFields(given, 'update');
  const { mark, failures: marked } = readReleaseMark('template', path, {
    version: wholeNumber(given['version']),
    given,
  });
  const found = [...failures.map((failure) => ({ ...failure, path: `${path}.${failure.path}` })), ...marked];
  const { name, dialect } = fields;
  if (dialect === undefined && !failures.some(({ path: at }) => at === 'dialect')) {
    found.push({
      code: 'template.validation.dialect_invalid',
      path: `${path}.dialect`,
      message: 'A template file names its "dialect".',
      details: {},
    });
  }
  if (name === undefined || dialect === undefined || found.length > 0) return { failures: found };
  return { file: { path, name, fields: { ...fields, dialect }, mark }, failures: [] };
}

/** One version twice in a file would be decided by its order. */
function repeated(files: readonly ReadTemplateFile[]): Failure[] {
  const seen = new Set<string>();
  return files.flatMap(({ path, name, mark }): Failure[] => {
    const key = mark.version === undefined ? name : refKey({ id: name, version: mark.version });
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    const message = 'The file holds this template version twice: leave one of them out.';
    const details = { field: path, reason: 'repeated' };
    return [{ code: 'pipeline.execution.invalid_parameter_type', path, message, details }];
  });
}

/** Each entry after the libraries of the file it imports; what imports itself in a circle is judged later. */
function librariesFirst(files: readonly ReadTemplateFile[]): ReadTemplateFile[] {
  const byKey = new Map(
    files.map((file) => [refKey({ id: file.name, version: file.mark.version ?? Number.NaN }), file] as const),
  );
  const ordered = new Set<ReadTemplateFile>();
  const entered = new Set<ReadTemplateFile>();
  const open = [...files].reverse();
  while (open.length > 0) {
    const file = open.at(-1)!;
    const below = file.fields.imports.flatMap((ref) => byKey.get(refKey(ref)) ?? []);
    const next = entered.has(file) ? [] : below.filter((library) => !entered.has(library));
    entered.add(file);
    if (next.length > 0) {
      open.push(...next);
      continue;
    }
    ordered.add(file);
    open.pop();
  }
  return [...ordered];
}
