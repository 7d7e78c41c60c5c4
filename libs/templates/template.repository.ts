import { Injectable } from '@nestjs/common';
import { writeJson, type KeysetPage, type WriteSurface } from '#libs/kernel';
import {
  effectStatement,
  lockVersionStatement,
  pointerStatement,
  statesStatement,
  TEMPLATE_TABLES,
  versionCountsStatement,
  versionPagesStatement,
  type Effect,
  type EntityState,
  type VersionColumns,
  type VersionState,
} from '#libs/lifecycle';
import { Database, type Queryable, type Transaction } from '#libs/persistence';
import type { Dialect } from '#libs/typesystem';
import type { TemplateImport, TemplateRef } from './pinned-template.js';

/** The row of `templates`, as a lock holder sees it. */
export interface TemplateEntity {
  id: string;
  name: string;
  displayName: string;
  description: string;
  currentVersion: number | null;
  createdBy: string;
}

/** The version-owned fields: what the hash covers (contract 05 §10.1). */
export interface VersionContent {
  dialect: Dialect;
  isLibrary: boolean;
  imports: readonly TemplateImport[];
  body: string;
}

/** What the pointer of a template names. */
export interface CurrentTemplate {
  name: string;
  version: number;
  bodyHash: string;
}

/** Everything a read of one version shows. */
export interface TemplateVersionRow extends VersionColumns {
  templateId: string;
  name: string;
  displayName: string;
  description: string;
  entityCreatedAt: string;
  entityUpdatedAt: string;
  entityCreatedBy: string;
  engine: string;
  dialect: Dialect;
  isLibrary: boolean;
  imports: string;
  body: string;
  createdVia: WriteSurface;
  updatedVia: WriteSurface;
}

/** Who writes, and on which surface: stamped on version rows, the person always, never a key. */
export interface Writer {
  userId: string;
  surface: WriteSurface;
}

const ENTITY = `e.id, e.name, e.display_name AS "displayName", e.description, e.current_version AS "currentVersion",
  e.created_by AS "createdBy"`;

/** A list of versions leaves their bodies in the database. */
const versionSelect = (body: 'v.body' | "''", which = 'e.name = $2'): string => `
  SELECT e.id AS "templateId", e.name, e.display_name AS "displayName", e.description,
         e.current_version AS "currentVersion", e.created_at AS "entityCreatedAt", e.updated_at AS "entityUpdatedAt",
         e.created_by AS "entityCreatedBy",
         EXISTS (SELECT FROM template_versions s WHERE s.template_id = e.id AND s.status <> 'DISCARDED') AS live, v.version, v.status, v.engine, v.dialect, v.is_library AS "isLibrary",
         v.imports_json AS imports, ${body} AS body, v.body_hash AS "bodyHash", v.created_at AS "createdAt",
         v.created_by AS "createdBy", v.created_via AS "createdVia", v.updated_at AS "updatedAt",
         v.updated_by AS "updatedBy", v.updated_via AS "updatedVia", v.released_at AS "releasedAt",
         v.released_by AS "releasedBy", v.discarded_at AS "discardedAt", v.discarded_by AS "discardedBy",
         d.version AS "draftVersion", d.body_hash AS "draftHash", d.updated_by AS "draftUpdatedBy",
         d.updated_at AS "draftUpdatedAt"
    FROM templates e
    JOIN template_versions v ON v.template_id = e.id
    LEFT JOIN template_versions d ON d.template_id = e.id AND d.status = 'DRAFT'
   WHERE e.workspace_id = $1 AND ${which}`;

/** The one hash expression (contract 05 §10.1), over SQL for dialect, is_library, imports and body. */
function hashSql(dialect: string, isLibrary: string, imports: string, body: string): string {
  return `encode(sha256(convert_to(jsonb_build_object('engine', 'freemarker', 'dialect', ${dialect}::text,
            'is_library', ${isLibrary}::boolean, 'imports', ${imports}::jsonb, 'body', ${body}::text)::text, 'UTF8')), 'hex')`;
}

/** The hash of `$n`… = dialect, is_library, imports, body; computed where the row is written. */
function hashOf(n: number): string {
  return hashSql(`$${n}`, `$${n + 1}`, `$${n + 2}`, `$${n + 3}`);
}

function contentValues({ dialect, isLibrary, imports, body }: VersionContent): unknown[] {
  const stored = imports.map(({ id, version, alias }) => ({ id, version, alias }));
  return [dialect, isLibrary, writeJson(stored), body];
}

/** SQL of `templates` and `template_versions`. Every statement takes part in the caller's transaction. */
@Injectable()
export class TemplateRepository {
  constructor(private readonly database: Database) {}

  /** Version 1 as a draft, pointer NULL; the unique name is the guard. Returns the hash. */
  async create(
    tx: Transaction,
    entity: { workspaceId: string; name: string; displayName: string; description: string },
    content: VersionContent,
    writer: Writer,
  ): Promise<{ id: string; bodyHash: string }> {
    const [row] = await tx.query<{ id: string; bodyHash: string }>(
      `WITH entity AS (
         INSERT INTO templates (workspace_id, name, display_name, description, created_by)
         VALUES ($5, $6, $7, $8, $9) RETURNING id)
       INSERT INTO template_versions (template_id, version, dialect, is_library, imports_json, body, status, body_hash,
                                      updated_by, updated_at, created_via, updated_via, created_by)
       SELECT id, 1, $1, $2, $3::jsonb, $4, 'DRAFT', ${hashOf(1)}, $9, NOW(), $10, $10, $9 FROM entity
       RETURNING template_id AS id, body_hash AS "bodyHash"`,
      [
        ...contentValues(content),
        entity.workspaceId,
        entity.name,
        entity.displayName,
        entity.description,
        writer.userId,
        writer.surface,
      ],
    );
    return row!;
  }

  async find(workspaceId: string, name: string, q: Queryable = this.database): Promise<TemplateEntity | undefined> {
    const rows = await q.query<TemplateEntity>(
      `SELECT ${ENTITY} FROM templates e WHERE e.workspace_id = $1 AND e.name = $2`,
      [workspaceId, name],
    );
    return rows[0];
  }

  /** Takes the index row, which serialises every write and verb on the template (contract 05 §10.1). */
  async lock(tx: Transaction, workspaceId: string, name: string): Promise<TemplateEntity | undefined> {
    const rows = await tx.query<TemplateEntity>(
      `SELECT ${ENTITY} FROM templates e WHERE e.workspace_id = $1 AND e.name = $2 FOR NO KEY UPDATE`,
      [workspaceId, name],
    );
    return rows[0];
  }

  /** As `lock`, for several at once, in the order of their ids so that no two transactions wait for each other. */
  async lockAll(tx: Transaction, workspaceId: string, names: readonly string[]): Promise<TemplateEntity[]> {
    return tx.query<TemplateEntity>(
      `SELECT ${ENTITY} FROM templates e WHERE e.workspace_id = $1 AND e.name = ANY($2::text[])
        ORDER BY e.id FOR NO KEY UPDATE`,
      [workspaceId, names],
    );
  }

  async state(q: Queryable, entity: Pick<TemplateEntity, 'id' | 'currentVersion'>): Promise<EntityState> {
    const { sql, values } = statesStatement(TEMPLATE_TABLES, entity.id);
    return { versions: await q.query<VersionState>(sql, values), currentVersion: entity.currentVersion };
  }

  async lockVersion(tx: Transaction, templateId: string, version: number): Promise<void> {
    const { sql, values } = lockVersionStatement(TEMPLATE_TABLES, templateId, version);
    await tx.query(sql, values);
  }

  /** The hash a body would have, for the comparison with the version it is based on. */
  async hash(q: Queryable, content: VersionContent): Promise<string> {
    const [row] = await q.query<{ hash: string }>(`SELECT ${hashOf(1)} AS hash`, contentValues(content));
    return row!.hash;
  }

  /** As {@link hash}, of many in their order. */
  async hashes(q: Queryable, contents: readonly VersionContent[]): Promise<string[]> {
    if (contents.length === 0) return [];
    const values = contents.map(contentValues);
    const rows = await q.query<{ hash: string }>(
      `SELECT ${hashSql('c.dialect', 'c.is_library', 'c.imports', 'c.body')} AS hash
         FROM unnest($1::text[], $2::boolean[], $3::text[], $4::text[]) WITH ORDINALITY
           AS c(dialect, is_library, imports, body, n) ORDER BY c.n`,
      [0, 1, 2, 3].map((column) => values.map((value) => value[column])),
    );
    return rows.map(({ hash }) => hash);
  }

  async insertDraft(
    tx: Transaction,
    templateId: string,
    version: number,
    content: VersionContent,
    writer: Writer,
  ): Promise<void> {
    await tx.execute(
      `INSERT INTO template_versions (template_id, version, dialect, is_library, imports_json, body, status, body_hash,
                                      updated_by, updated_at, created_via, updated_via, created_by)
       VALUES ($5, $6, $1, $2, $3::jsonb, $4, 'DRAFT', ${hashOf(1)}, $7, NOW(), $8, $8, $7)`,
      [...contentValues(content), templateId, version, writer.userId, writer.surface],
    );
  }

  /** Makes the index rows that do not exist yet; names that do are left as they are. */
  async createEntities(
    tx: Transaction,
    workspaceId: string,
    entities: readonly { name: string; displayName: string; description: string }[],
    createdBy: string,
  ): Promise<void> {
    await tx.execute(
      `INSERT INTO templates (workspace_id, name, display_name, description, created_by)
       SELECT $1, x.name, x.display_name, x.description, $5
         FROM unnest($2::text[], $3::text[], $4::text[]) AS x(name, display_name, description)
        ORDER BY x.name COLLATE "C"
       ON CONFLICT (workspace_id, name) DO NOTHING`,
      [
        workspaceId,
        entities.map(({ name }) => name),
        entities.map(({ displayName }) => displayName),
        entities.map(({ description }) => description),
        createdBy,
      ],
    );
  }

  /** The dialect each template is written for: that of its stored versions, which all have one. */
  async dialects(q: Queryable, ids: readonly string[]): Promise<Map<string, Dialect>> {
    const rows = await q.query<{ id: string; dialect: Dialect }>(
      `SELECT DISTINCT ON (template_id) template_id AS id, dialect
         FROM template_versions WHERE template_id = ANY($1::uuid[]) ORDER BY template_id, version DESC`,
      [ids],
    );
    return new Map(rows.map(({ id, dialect }) => [id, dialect]));
  }

  /** A release that was made elsewhere; `releasedAt` is when, now if it is not known. */
  async insertReleased(
    tx: Transaction,
    templateId: string,
    version: number,
    content: VersionContent,
    importedBy: string,
    releasedAt: string | undefined,
  ): Promise<void> {
    await tx.execute(
      `INSERT INTO template_versions (template_id, version, dialect, is_library, imports_json, body, status, body_hash,
                                      created_by, released_by, released_at)
       VALUES ($5, $6, $1, $2, $3::jsonb, $4, 'RELEASED', ${hashOf(1)}, $7, $7, COALESCE($8::timestamptz, NOW()))`,
      [...contentValues(content), templateId, version, importedBy, releasedAt ?? null],
    );
  }

  /** False when the draft no longer has the base hash. */
  async overwriteDraft(
    tx: Transaction,
    templateId: string,
    effect: { version: number; baseHash: string },
    content: VersionContent,
    writer: Writer,
  ): Promise<boolean> {
    const changed = await tx.execute(
      `UPDATE template_versions
          SET dialect = $1, is_library = $2, imports_json = $3::jsonb, body = $4, body_hash = ${hashOf(1)},
              updated_by = $7, updated_at = NOW(), updated_via = $8
        WHERE template_id = $5 AND version = $6 AND status = 'DRAFT' AND body_hash = $9`,
      [...contentValues(content), templateId, effect.version, writer.userId, writer.surface, effect.baseHash],
    );
    return changed === 1;
  }

  /** Display name and description belong to the template, not to a version: they change at save time. */
  async describe(tx: Transaction, templateId: string, displayName: string, description: string): Promise<void> {
    await tx.execute(
      `UPDATE templates SET display_name = $2, description = $3, updated_at = NOW()
        WHERE id = $1 AND (display_name, description) IS DISTINCT FROM ($2, $3)`,
      [templateId, displayName, description],
    );
  }

  /** Carries out an effect without a body; false when its guard found the row changed. */
  async apply(tx: Transaction, templateId: string, effect: Effect, actorId: string): Promise<boolean> {
    const statement = effectStatement(TEMPLATE_TABLES, templateId, effect, actorId);
    return statement === undefined || (await tx.execute(statement.sql, statement.values)) > 0;
  }

  async movePointer(tx: Transaction, templateId: string, version: number | null): Promise<void> {
    const { sql, values } = pointerStatement(TEMPLATE_TABLES, templateId, version);
    await tx.execute(sql, values);
  }

  /** One version, or the one that a read without a number shows: the working one, else the highest. */
  async version(
    workspaceId: string,
    name: string,
    version: number | undefined,
    q: Queryable = this.database,
  ): Promise<TemplateVersionRow | undefined> {
    const rows = await q.query<TemplateVersionRow>(
      `${versionSelect('v.body')} AND ($3::bigint IS NULL OR v.version = $3)
        ORDER BY (v.status = 'DRAFT') DESC, (v.version = e.current_version) DESC NULLS LAST, v.version DESC LIMIT 1`,
      [workspaceId, name, version ?? null],
    );
    return rows[0];
  }

  /** Versions of several templates by number, in one statement; absent ones are absent. */
  async versionsAmong(workspaceId: string, refs: readonly TemplateRef[]): Promise<TemplateVersionRow[]> {
    if (refs.length === 0) return [];
    return this.database.query<TemplateVersionRow>(
      versionSelect('v.body', '(e.name, v.version) IN (SELECT * FROM unnest($2::text[], $3::int[]))'),
      [workspaceId, refs.map(({ id }) => id), refs.map(({ version }) => version)],
    );
  }

  /** A page of versions of each of several templates, highest first, in one statement. */
  async versionPages(workspaceId: string, names: readonly string[], page: KeysetPage): Promise<TemplateVersionRow[]> {
    const selection = { sql: versionSelect('v.body', 'e.name = ANY($2::text[])'), values: [workspaceId, names] };
    const { sql, values } = versionPagesStatement(selection, 'name', page);
    return this.database.query<TemplateVersionRow>(sql, values);
  }

  /** How many versions each of several templates has. */
  async versionCounts(workspaceId: string, names: readonly string[]): Promise<Map<string, number>> {
    const { sql, values } = versionCountsStatement(TEMPLATE_TABLES, workspaceId, 'name', names);
    const rows = await this.database.query<{ entity: string; count: number }>(sql, values);
    return new Map(rows.map(({ entity, count }) => [entity, count]));
  }

  async versions(workspaceId: string, name: string): Promise<TemplateVersionRow[]> {
    return this.database.query<TemplateVersionRow>(`${versionSelect("''")} ORDER BY v.version DESC`, [
      workspaceId,
      name,
    ]);
  }

  /** The version that each template's pointer names, by name; templates without one are absent. */
  async currentVersions(workspaceId: string): Promise<CurrentTemplate[]> {
    return this.database.query<CurrentTemplate>(
      `SELECT e.name, v.version, v.body_hash AS "bodyHash"
         FROM templates e JOIN template_versions v ON v.template_id = e.id AND v.version = e.current_version
        WHERE e.workspace_id = $1 ORDER BY e.name COLLATE "C"`,
      [workspaceId],
    );
  }

  /** Names of the templates that import a version (or any version) of this one; stored versions of every status count. */
  async importers(q: Queryable, workspaceId: string, name: string, version?: number): Promise<string[]> {
    const rows = await q.query<{ name: string }>(
      `SELECT DISTINCT t.name COLLATE "C" AS name
         FROM template_versions v JOIN templates t ON t.id = v.template_id
        CROSS JOIN LATERAL jsonb_array_elements(v.imports_json) AS i
        WHERE v.imports_json @> $4::jsonb AND t.workspace_id = $1 AND t.name <> $2
          AND i->>'id' = $2 AND ($3::int IS NULL OR (i->>'version')::int = $3)
        ORDER BY 1`,
      [workspaceId, name, version ?? null, writeJson([{ id: name }])],
    );
    return rows.map((row) => row.name);
  }
}
