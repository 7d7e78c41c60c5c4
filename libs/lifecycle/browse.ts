import { KeysetOrder, sizeOf, type KeysetPage } from '#libs/kernel/pure';
import type { Statement, VersionedTables } from './statements.js';
import type { EntityStatus } from './version-state.js';

/** A folder is only a name prefix: no rows stand for it (contract 05 §2). */
export interface Folder {
  path: string;
  segment: string;
  /** Entities in the whole subtree. */
  count: number;
}

/** A text as the pattern of `LIKE … ESCAPE '\'` that matches exactly itself. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/**
 * Predicate over alias `e` for statements that read a page: the derived status of an entity. Never a stored flag but a
 * probe of the versions (seed §4.4), which a pointer spares: it names a live version or nothing (contract 05 §10).
 */
export function statusPredicate(tables: VersionedTables, status: EntityStatus): string {
  // A subquery with a LIMIT stays a probe; of an EXISTS the planner may hash every live version, for a page of fifty.
  const active = `(e.current_version IS NOT NULL OR (SELECT TRUE FROM ${liveVersions(tables)} LIMIT 1) IS NOT NULL)`;
  return status === 'ACTIVE' ? active : `NOT ${active}`;
}

/**
 * The same for statements that ask every entity, as predicates of which at most one holds: where pointers stand an index
 * tells it all, and only the rest is joined with the versions. In one predicate the planner would take the dear half
 * for the price of each row.
 */
function statusParts(tables: VersionedTables, status: EntityStatus | undefined): string[] {
  if (status === undefined) return ['TRUE'];
  const live = `EXISTS (SELECT FROM ${liveVersions(tables)})`;
  if (status === 'DISCARDED') return [`e.current_version IS NULL AND NOT ${live}`];
  return ['e.current_version IS NOT NULL', `e.current_version IS NULL AND ${live}`];
}

function liveVersions({ versions, key }: VersionedTables): string {
  return `${versions} s WHERE s.${key} = e.id AND s.status <> 'DISCARDED'`;
}

/** Join of alias `w`: the working version of entity `e` – the draft, else the pointer's (contract 05 §10). */
export function workingJoin({ versions, key }: VersionedTables): string {
  return `LEFT JOIN LATERAL (
       SELECT x.* FROM ${versions} x
        WHERE x.${key} = e.id AND (x.status = 'DRAFT' OR x.version = e.current_version)
        ORDER BY (x.status = 'DRAFT') DESC LIMIT 1) w ON TRUE`;
}

/** Predicate over alias `e`: a substring of path, display name or description; the pattern is parameter `$n`. */
export function searchPredicate(n: number): string {
  return `(e.name ILIKE $${n} ESCAPE '\\' OR e.display_name ILIKE $${n} ESCAPE '\\' OR e.description ILIKE $${n} ESCAPE '\\')`;
}

export function searchPattern(q: string): string {
  return `%${escapeLike(q)}%`;
}

/** The folder an entity stands in, over alias `e`: the expression of the indexes `px_*_folder`, letter by letter. */
const FOLDER = `left(e.name, -strpos(reverse(e.name), '/')) COLLATE "C"`;

/** The folders below a prefix as a range of texts, and where the rest of such a path begins; `0` follows `/`. */
function below(prefix: string): { least: string; beyond: string | null; from: number } {
  return prefix === ''
    ? { least: '', beyond: null, from: 1 }
    : { least: `${prefix}/`, beyond: `${prefix}0`, from: prefix.length + 2 };
}

/**
 * A parameter whose value the planner does not see. For a folder that holds much of the table it would read the table,
 * and take the folder of every name apart, which costs more than it thinks; the index has them ready.
 */
function unseen(parameter: string): string {
  return `(SELECT ${parameter}::text)`;
}

/** The folders of one level, with the number of entities under each: `segment`, `count`. */
export function foldersStatement(
  tables: VersionedTables,
  workspaceId: string,
  prefix: string,
  status: EntityStatus,
): Statement {
  const { least, beyond, from } = below(prefix);
  const range = beyond === null ? '' : `AND ${FOLDER} >= ${unseen('$3')} AND ${FOLDER} < ${unseen('$4')}`;
  // Counted by folder first, in the order of the index: a subtree has far fewer folders than entities.
  const parts = statusParts(tables, status).map(
    (part) => `SELECT ${FOLDER} AS folder, count(*) AS count
                 FROM ${tables.entities} e WHERE ${part} AND e.workspace_id = $1 ${range} GROUP BY 1`,
  );
  return {
    sql: `SELECT split_part(substr(f.folder, $2::int), '/', 1) COLLATE "C" AS segment, sum(f.count)::int AS count
            FROM (${parts.join(' UNION ALL ')}) f
           GROUP BY 1 ORDER BY 1`,
    values: [workspaceId, from, ...(beyond === null ? [] : [least, beyond])],
  };
}

/** Predicate over alias `e` for the entities that stand directly in a folder, with its values from `$n` on. */
export function levelPredicate(prefix: string, n: number): { sql: string; values: readonly unknown[] } {
  return { sql: `${FOLDER} = ${unseen(`$${n}`)}`, values: [prefix] };
}

export function folder(prefix: string, row: { segment: string; count: number }): Folder {
  return { path: prefix === '' ? row.segment : `${prefix}/${row.segment}`, segment: row.segment, count: row.count };
}

/** What a list reads: columns over `e` (the entity) and `w` (its working version), and which entities. */
export interface Selection {
  tables: VersionedTables;
  columns: string;
  where: string;
  /** Absent: entities of either status. */
  status?: EntityStatus;
  values: readonly unknown[];
}

/** The source of a selection, up to its filter. */
export function selectionFrom({ tables, where, status }: Selection): string {
  return `FROM ${tables.entities} e ${workingJoin(tables)}
         WHERE ${where} ${status ? `AND ${statusPredicate(tables, status)}` : ''}`;
}

/** One page by position. Names sort by code point, so that every page of every door has one order. */
export function pageStatement(selection: Selection, page: { offset: number; limit: number }): Statement {
  const { columns, values } = selection;
  return {
    sql: `SELECT ${columns} ${selectionFrom(selection)}
           ORDER BY e.name COLLATE "C" OFFSET $${values.length + 1} LIMIT $${values.length + 2}`,
    values: [...values, page.offset, page.limit],
  };
}

/** What is only counted needs no working version, unless the filter looks at it. */
export function countStatement({ tables, where, status, values }: Selection): Statement {
  const source = `FROM ${tables.entities} e ${/\bw\./.test(where) ? workingJoin(tables) : ''}`;
  const parts = statusParts(tables, status).map((part) => `(SELECT count(*) ${source} WHERE ${part} AND ${where})`);
  return { sql: `SELECT (${parts.join(' + ')})::int AS total`, values };
}

/** Names by code point: every page of every door has one order. */
export const BY_NAME = new KeysetOrder({ sql: 'e.name COLLATE "C"', kind: 'text' });

/** One page by key: `after` and `before` are names. Reads one row more than asked, which tells whether there are more. */
export function keysetStatement(selection: Selection, page: KeysetPage, order: KeysetOrder = BY_NAME): Statement {
  const values = [...selection.values];
  const beyond = order.beyond(page, values);
  return {
    sql: `SELECT ${selection.columns} ${selectionFrom(selection)} AND ${beyond} ${order.tail(page, values)}`,
    values,
  };
}

const NEWEST_VERSION_FIRST = new KeysetOrder({ sql: 'x.version', kind: 'int', descending: true });

/**
 * The newest versions of several entities in one statement, over a selection that has `version` and names its entity:
 * one row more than asked for each. `after` and `before` are version numbers.
 */
export function versionPagesStatement(selection: Statement, entity: string, page: KeysetPage): Statement {
  const values = [...selection.values];
  const beyond = NEWEST_VERSION_FIRST.beyond(page, values);
  const place = `row_number() OVER (PARTITION BY x."${entity}" ${NEWEST_VERSION_FIRST.orderBy(page)})`;
  return {
    sql: `SELECT * FROM (SELECT x.*, ${place} AS place FROM (${selection.sql}) x WHERE ${beyond}) y
           WHERE y.place <= $${values.push(sizeOf(page) + 1)} ORDER BY y."${entity}", y.place`,
    values,
  };
}

/** How many versions each of several entities of a workspace has; `by` is how they are named. */
export function versionCountsStatement(
  { entities, versions, key }: VersionedTables,
  workspaceId: string,
  by: 'id' | 'name',
  names: readonly string[],
): Statement {
  return {
    sql: `SELECT e.${by}::text AS entity, count(*)::int AS count
            FROM ${entities} e JOIN ${versions} v ON v.${key} = e.id
           WHERE e.workspace_id = $1 AND e.${by} = ANY($2::${by === 'id' ? 'uuid' : 'text'}[])
           GROUP BY 1`,
    values: [workspaceId, names],
  };
}
