import { isJsonObject, validationError, type Failure, type JsonObject, type JsonValue } from '#libs/kernel';

import { dottedName, type LakeTableFields } from '../registry/lake-table.js';
import { tableFields } from '../registry/table-fields.js';

/** What an import asks for: a list of its own, or one that is fetched. */
export type ImportRequest =
  | { from: 'list'; tables: JsonValue; namespace: JsonValue | undefined; publishPrefix: JsonValue | undefined }
  | { from: 'manifest'; url: string; namespace: JsonValue | undefined };

/** Most tables of one import. */
export const MOST_TABLES = 500;

const LIST_KEYS = ['tables', 'namespace', 'publish_prefix'];
const MANIFEST_KEYS = ['manifest_url', 'namespace'];

/** `{tables, namespace?, publish_prefix?}` or `{manifest_url, namespace?}`. @throws 400 */
export function readImportBody(body: JsonObject): ImportRequest {
  const url = body['manifest_url'];
  const manifest = url !== undefined && url !== null;
  const keys = manifest ? MANIFEST_KEYS : LIST_KEYS;
  const failures = Object.keys(body)
    .filter((key) => !keys.includes(key))
    .map((key) => invalid(key, `An import by ${manifest ? 'manifest' : 'list'} has ${keys.join(', ')}; not "${key}".`));
  if (manifest && typeof url !== 'string') failures.push(invalid('manifest_url', 'manifest_url must be text.'));
  if (!manifest && body['tables'] === undefined)
    failures.push(invalid('tables', 'Give tables, a list of tables, or manifest_url.'));
  if (failures.length > 0) throw validationError(failures);
  const namespace = body['namespace'] ?? undefined;
  return typeof url === 'string'
    ? { from: 'manifest', url, namespace }
    : { from: 'list', tables: body['tables'] ?? null, namespace, publishPrefix: body['publish_prefix'] ?? undefined };
}

/**
 * The tables of a list, each with its namespace and whole location.
 *
 * @throws 400 with every defect, at its place in the list
 */
export function readTableList(
  tables: JsonValue,
  shared: { namespace: JsonValue | undefined; publishPrefix: JsonValue | undefined },
): LakeTableFields[] {
  if (!Array.isArray(tables) || tables.length < 1 || tables.length > MOST_TABLES)
    throw validationError([invalid('tables', `tables must be a list of 1 to ${MOST_TABLES} tables.`)]);
  const failures: Failure[] = [];
  const seen = new Set<string>();
  const found = tables.map((entry, index) => {
    const path = `tables[${index}].`;
    if (!isJsonObject(entry)) {
      failures.push(invalid(`tables[${index}]`, 'A table is an object with name, format and location or path.'));
      return undefined;
    }
    const { body, defect } = completed(entry, shared);
    if (defect !== undefined) failures.push(invalid(`${path}path`, defect));
    const { fields, failures: own } = tableFields(body, path);
    failures.push(...own);
    const name = dottedName(fields);
    if (own.length === 0 && seen.has(name))
      failures.push({
        code: 'datasource.lake_table_duplicate',
        path: `${path}name`,
        message: `The list has "${name}" twice.`,
        details: { table: name },
      });
    seen.add(name);
    return fields;
  });
  if (failures.length > 0) throw validationError(failures);
  return found.flatMap((fields) => fields ?? []);
}

/** `path` is what follows the prefix; a table's own namespace beats the shared one. */
function completed(
  { path, ...entry }: JsonObject,
  { namespace, publishPrefix }: { namespace: JsonValue | undefined; publishPrefix: JsonValue | undefined },
): { body: JsonObject; defect?: string } {
  const body: JsonObject = { ...entry };
  if (body['namespace'] === undefined && namespace !== undefined) body['namespace'] = namespace;
  if (path === undefined) return { body };
  if (entry['location'] !== undefined) return { body, defect: 'Give location or path, not both.' };
  if (typeof publishPrefix !== 'string')
    return { body: { ...body, location: 's3://unknown/' }, defect: 'A path needs publish_prefix before it.' };
  if (typeof path !== 'string') return { body: { ...body, location: 's3://unknown/' }, defect: 'path must be text.' };
  return { body: { ...body, location: `${publishPrefix.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}` } };
}

function invalid(path: string, message: string): Failure {
  return { code: 'datasource.validation.properties_invalid', path, message, details: { key: path } };
}
