import { Injectable } from '@nestjs/common';

import { keysetItems, KeysetOrder, type KeysetListing, type KeysetPage } from '#libs/kernel';
import type { Queryable } from '#libs/persistence';

import { recordOf, type DatasourceRecord, type DatasourceRecordRow } from './datasource.js';

/** The columns of a row as it is written. `credential` null with a kind other than none = keep what is stored. */
export interface DatasourceWrite {
  name: string;
  displayName: string;
  description: string | null;
  dialect: string;
  jdbcUrl: string;
  username: string | null;
  credentialKind: string;
  credential: Buffer | null;
  propertiesJson: string;
  queryTimeoutSeconds: number | null;
  includeSchemasJson: string;
  ownerWorkspaceId: string | null;
  isReadonly: boolean;
}

export interface StoredCredential {
  kind: string;
  sealed: Buffer | null;
}

const COLUMNS = `d.name, d.display_name, d.description, d.dialect, d.jdbc_url, d.username, d.credential_kind,
  d.properties_json, d.query_timeout_seconds, d.introspection_include_schemas_json, d.owner_workspace_id,
  w.name AS owner_workspace, d.is_readonly, d.last_test_at, d.last_test_ok, d.last_test_message,
  d.created_by, d.created_at, d.updated_at`;

/** $1 is the workspace that reads. */
const GRANTED = `EXISTS (SELECT 1 FROM datasource_workspaces g WHERE g.datasource_name = d.name AND g.workspace_id = $1)`;

const FROM = `FROM datasources d LEFT JOIN workspaces w ON w.id = d.owner_workspace_id`;

/** What a list shows: what a workspace was granted, or all of the instance. An unknown dialect matches nothing. */
export interface DatasourceSelection {
  workspaceId: string | null;
  all: boolean;
  dialect?: string | undefined;
}

const SELECTED = `($2 OR ${GRANTED}) AND ($3::text IS NULL OR d.dialect = $3)`;
const BY_NAME = new KeysetOrder({ sql: 'd.name', kind: 'text' });

/** Live rows only: a deleted name is gone for every read. Whatever a workspace reads is filtered by its grants here. */
@Injectable()
export class DatasourceRepository {
  async visible(q: Queryable, workspaceId: string, name: string): Promise<DatasourceRecord | undefined> {
    return (await this.#read(q, `d.name = $2 AND ${GRANTED}`, [workspaceId, name]))[0];
  }

  /** Without a grant: for super admins' manage, test and grant verbs, and for the pools. */
  async live(q: Queryable, name: string, workspaceId: string | null = null): Promise<DatasourceRecord | undefined> {
    return (await this.#read(q, 'd.name = $2', [workspaceId, name]))[0];
  }

  /** Names of all that a workspace sees. */
  async visibleNames(q: Queryable, workspaceId: string): Promise<string[]> {
    const rows = await q.query<{ name: string }>(
      `SELECT d.name FROM datasources d
         JOIN datasource_workspaces g ON g.datasource_name = d.name AND g.workspace_id = $1
        WHERE NOT d.is_deleted ORDER BY d.name COLLATE "C"`,
      [workspaceId],
    );
    return rows.map(({ name }) => name);
  }

  /**
   * Several at once, in the order of names. `hold` keeps rows and grants from being deleted or revoked until the
   * transaction ends; one order for all, so that two saves never wait for each other.
   */
  async visibleAmong(
    q: Queryable,
    workspaceId: string,
    names: readonly string[],
    { hold }: { hold: boolean } = { hold: false },
  ): Promise<DatasourceRecord[]> {
    if (names.length === 0) return [];
    const rows = await q.query<DatasourceRecordRow>(
      `SELECT ${COLUMNS}, TRUE AS granted ${FROM}
         JOIN datasource_workspaces g ON g.datasource_name = d.name AND g.workspace_id = $1
        WHERE NOT d.is_deleted AND d.name = ANY ($2::text[]) ORDER BY d.name ${hold ? 'FOR SHARE OF d, g' : ''}`,
      [workspaceId, names],
    );
    return rows.map(recordOf);
  }

  /** By name, which `after` and `before` are. */
  async page(q: Queryable, selection: DatasourceSelection, page: KeysetPage): Promise<KeysetListing<DatasourceRecord>> {
    const values = selected(selection);
    const beyond = BY_NAME.beyond(page, values);
    const rows = await this.#read(q, `${SELECTED} AND ${beyond}`, values, (params) => BY_NAME.tail(page, params));
    return keysetItems(rows, page);
  }

  async count(q: Queryable, selection: DatasourceSelection): Promise<number> {
    const [row] = await q.query<{ total: number }>(
      `SELECT count(*)::int AS total FROM datasources d WHERE NOT d.is_deleted AND ${SELECTED}`,
      selected(selection),
    );
    return row?.total ?? 0;
  }

  /** @throws DatabaseFailure on `datasources_pkey` for a name in use anywhere, deleted ones included */
  async insert(q: Queryable, row: DatasourceWrite, createdBy: string): Promise<void> {
    await q.execute(
      `INSERT INTO datasources (name, display_name, description, dialect, jdbc_url, username, credential_kind,
         credential_encrypted, properties_json, query_timeout_seconds, introspection_include_schemas_json,
         owner_workspace_id, is_readonly, created_by)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10, $11::jsonb, $12, $13, $14)`,
      [...values(row), createdBy],
    );
  }

  /** False when the row is gone, or its credential is no longer of the kind whose secret was to be kept. */
  async update(q: Queryable, row: DatasourceWrite): Promise<boolean> {
    const changed = await q.execute(
      `UPDATE datasources
          SET display_name = $2, description = $3, dialect = $4, jdbc_url = $5, username = $6, credential_kind = $7,
              credential_encrypted = CASE WHEN $7 = 'none' THEN NULL ELSE COALESCE($8, credential_encrypted) END,
              properties_json = $9::jsonb, query_timeout_seconds = $10, introspection_include_schemas_json = $11::jsonb,
              owner_workspace_id = $12, is_readonly = $13, updated_at = NOW()
        WHERE name = $1 AND NOT is_deleted
          AND ($7 = 'none' OR $8::bytea IS NOT NULL OR credential_kind = $7)`,
      values(row),
    );
    return changed === 1;
  }

  /** Locks the row against pipeline saves, which share-lock what they refer to. */
  async lock(tx: Queryable, name: string): Promise<boolean> {
    const rows = await tx.query('SELECT 1 FROM datasources WHERE name = $1 AND NOT is_deleted FOR UPDATE', [name]);
    return rows.length === 1;
  }

  async softDelete(tx: Queryable, name: string): Promise<void> {
    await tx.execute(
      'UPDATE datasources SET is_deleted = TRUE, updated_at = NOW() WHERE name = $1 AND NOT is_deleted',
      [name],
    );
  }

  /** The one write that leaves `updated_at` alone: an observation is no edit (seed §4.10). */
  async recordTest(q: Queryable, name: string, ok: boolean, message: string | null): Promise<string> {
    const [row] = await q.query<{ last_test_at: string }>(
      `UPDATE datasources SET last_test_at = NOW(), last_test_ok = $2, last_test_message = $3
        WHERE name = $1 AND NOT is_deleted RETURNING last_test_at`,
      [name, ok, message],
    );
    return row?.last_test_at ?? '';
  }

  /** Whether a name is used, by a live or a deleted row. */
  async isTaken(q: Queryable, name: string): Promise<boolean> {
    return (await q.query('SELECT 1 FROM datasources WHERE name = $1', [name])).length === 1;
  }

  async replaceCredential(
    q: Queryable,
    name: string,
    { kind, username, sealed }: { kind: string; username: string | null; sealed: Buffer },
  ): Promise<void> {
    await q.execute(
      `UPDATE datasources SET credential_kind = $2, username = $3, credential_encrypted = $4, updated_at = NOW()
        WHERE name = $1 AND NOT is_deleted`,
      [name, kind, username, sealed],
    );
  }

  async credential(q: Queryable, name: string): Promise<StoredCredential | undefined> {
    const [row] = await q.query<{ credential_kind: string; credential_encrypted: Buffer | null }>(
      'SELECT credential_kind, credential_encrypted FROM datasources WHERE name = $1 AND NOT is_deleted',
      [name],
    );
    return row && { kind: row.credential_kind, sealed: row.credential_encrypted };
  }

  /** When each of these was last changed; a deleted one is left out. */
  async changedAt(q: Queryable, names: readonly string[]): Promise<Map<string, string>> {
    const rows = await q.query<{ name: string; updated_at: string }>(
      'SELECT name, updated_at FROM datasources WHERE name = ANY ($1::text[]) AND NOT is_deleted',
      [names],
    );
    return new Map(rows.map((row) => [row.name, row.updated_at]));
  }

  /** Which key versions seal what, for the operator who retires one. */
  async sealedCredentials(q: Queryable): Promise<{ name: string; sealed: Buffer }[]> {
    return await q.query<{ name: string; sealed: Buffer }>(
      `SELECT name, credential_encrypted AS sealed FROM datasources
        WHERE credential_encrypted IS NOT NULL AND NOT is_deleted ORDER BY name`,
    );
  }

  async #read(
    q: Queryable,
    where: string,
    params: unknown[],
    tail: (params: unknown[]) => string = () => '',
  ): Promise<DatasourceRecord[]> {
    const rows = await q.query<DatasourceRecordRow>(
      `SELECT ${COLUMNS}, ${GRANTED} AS granted ${FROM} WHERE NOT d.is_deleted AND ${where} ${tail(params)}`,
      params,
    );
    return rows.map(recordOf);
  }
}

function selected({ workspaceId, all, dialect }: DatasourceSelection): unknown[] {
  return [workspaceId, all, dialect ?? null];
}

function values(row: DatasourceWrite): unknown[] {
  return [
    row.name,
    row.displayName,
    row.description,
    row.dialect,
    row.jdbcUrl,
    row.username,
    row.credentialKind,
    row.credential,
    row.propertiesJson,
    row.queryTimeoutSeconds,
    row.includeSchemasJson,
    row.ownerWorkspaceId,
    row.isReadonly,
  ];
}
