import { Injectable } from '@nestjs/common';
import { PenstockError, readJson } from '#libs/kernel';
import type { VersionStatus } from '#libs/lifecycle';
import { Database, type Queryable, type Transaction } from '#libs/persistence';
import type { Dialect } from '#libs/typesystem';
import {
  refKey,
  type PinnedTemplate,
  type TemplateClosure,
  type TemplateImport,
  type TemplateRef,
} from './pinned-template.js';
import { readImport } from './template-fields.js';

/** Libraries one template may reach in all (contract 05 §6). */
export const MAX_CLOSURE = 200;
/** Longest chain of libraries below an importer (contract 05 §7). */
export const MAX_IMPORT_DEPTH = 10;

/** What a reference leads to. `missing` says whether the template or only that version is absent. */
export type TemplateLookup = { found: TemplateClosure } | { missing: 'template' | 'version' };

/** A version held for the length of a transaction. */
export interface HeldVersion {
  status: VersionStatus;
  dialect: Dialect;
  isLibrary: boolean;
  bodyHash: string;
}

interface PinnedRow {
  templateId: string;
  name: string;
  version: number;
  status: VersionStatus;
  dialect: Dialect;
  isLibrary: boolean;
  bodyHash: string;
  body: string;
  imports: string;
}

/** Loads template versions by exact reference, inside one workspace. Authorises nothing: its callers did. */
@Injectable()
export class TemplateCatalog {
  constructor(private readonly database: Database) {}

  /**
   * The versions that exist, with their import closures; one round trip per level of imports.
   * Any status: a pipeline that pinned a version runs it. Absent references are absent from the map.
   */
  async load(
    workspaceId: string,
    refs: readonly TemplateRef[],
    q: Queryable = this.database,
    offered: ReadonlyMap<string, PinnedTemplate> = new Map(),
  ): Promise<Map<string, TemplateClosure>> {
    const loaded = await this.#walk(workspaceId, refs, q, offered);
    const closures = new Map<string, TemplateClosure>();
    for (const ref of refs) {
      const template = loaded.get(refKey(ref));
      if (template) closures.set(refKey(ref), { template, libraries: closureOf(template, loaded) });
    }
    return closures;
  }

  /**
   * As `load`, and for what is absent whether the name exists at all. `offered` are versions that an import brings, by
   * `refKey`: they stand in for what is not stored yet.
   */
  async lookup(
    workspaceId: string,
    refs: readonly TemplateRef[],
    offered: ReadonlyMap<string, PinnedTemplate> = new Map(),
  ): Promise<Map<string, TemplateLookup>> {
    const q = this.database;
    const closures = await this.load(workspaceId, refs, q, offered);
    const absent = refs.filter((ref) => !closures.has(refKey(ref)));
    const names = absent.length === 0 ? [] : await this.#existing(workspaceId, absent, q);
    const known = new Set(names);
    return new Map(
      refs.map((ref): [string, TemplateLookup] => {
        const found = closures.get(refKey(ref));
        return [refKey(ref), found ? { found } : { missing: known.has(ref.id) ? 'version' : 'template' }];
      }),
    );
  }

  /**
   * Holds versions as they are until the transaction ends: a discard, purge or release of one waits, and after it sees
   * the pin that is being written (contract 01 §10.1). Absent versions are absent from the map.
   */
  async hold(tx: Transaction, workspaceId: string, refs: readonly TemplateRef[]): Promise<Map<string, HeldVersion>> {
    const known = refs.filter(({ version }) => Number.isSafeInteger(version));
    if (known.length === 0) return new Map();
    const rows = await tx.query<HeldVersion & TemplateRef>(
      `SELECT t.name AS id, v.version, v.status, v.dialect, v.is_library AS "isLibrary", v.body_hash AS "bodyHash"
         FROM template_versions v
         JOIN templates t ON t.id = v.template_id
        WHERE t.workspace_id = $1 AND (t.name, v.version) IN (SELECT * FROM unnest($2::text[], $3::bigint[]))
        ORDER BY v.template_id, v.version
          FOR SHARE OF v`,
      [workspaceId, known.map(({ id }) => id), known.map(({ version }) => version)],
    );
    return new Map(rows.map((row) => [refKey(row), row]));
  }

  async #existing(workspaceId: string, refs: readonly TemplateRef[], q: Queryable): Promise<string[]> {
    const rows = await q.query<{ name: string }>(
      'SELECT name FROM templates WHERE workspace_id = $1 AND name = ANY($2::text[])',
      [workspaceId, [...new Set(refs.map(({ id }) => id))]],
    );
    return rows.map(({ name }) => name);
  }

  /** Breadth first over references not seen yet, so that a circle ends and each version is read once. */
  async #walk(
    workspaceId: string,
    refs: readonly TemplateRef[],
    q: Queryable,
    offered: ReadonlyMap<string, PinnedTemplate>,
  ): Promise<Map<string, PinnedTemplate>> {
    const loaded = new Map<string, PinnedTemplate>();
    const asked = new Set<string>();
    let level = unseen(refs, asked);
    for (let depth = 0; level.length > 0 && depth <= MAX_IMPORT_DEPTH + 1; depth++) {
      const rows = await q.query<PinnedRow>(
        `SELECT t.id AS "templateId", t.name, v.version, v.status, v.dialect, v.is_library AS "isLibrary",
                v.body_hash AS "bodyHash", v.body, v.imports_json AS imports
           FROM unnest($2::text[], $3::bigint[]) AS ref(name, version)
           JOIN templates t ON t.workspace_id = $1 AND t.name = ref.name
           JOIN template_versions v ON v.template_id = t.id AND v.version = ref.version`,
        [workspaceId, level.map(({ id }) => id), level.map(({ version }) => version)],
      );
      const stored = rows.map((row): PinnedTemplate => ({ ...row, imports: readImports(row.imports) }));
      const known = new Set(stored.map(({ name, version }) => refKey({ id: name, version })));
      const brought = level.map(refKey).filter((key) => !known.has(key));
      const found = [...stored, ...brought.flatMap((key) => offered.get(key) ?? [])];
      for (const template of found) loaded.set(`${template.name}@${template.version}`, template);
      level = unseen(
        found.flatMap(({ imports }) => imports),
        asked,
      );
    }
    return loaded;
  }
}

function unseen(refs: readonly TemplateRef[], asked: Set<string>): TemplateRef[] {
  const fresh: TemplateRef[] = [];
  for (const ref of refs) {
    const key = refKey(ref);
    if (asked.has(key)) continue;
    asked.add(key);
    // A document may name a version of any length; none beyond a double's integers exists.
    if (Number.isSafeInteger(ref.version)) fresh.push(ref);
  }
  return fresh;
}

/** The libraries a template reaches among those that were loaded. DISCARDED ones count as missing. */
function closureOf(template: PinnedTemplate, loaded: ReadonlyMap<string, PinnedTemplate>): Map<string, PinnedTemplate> {
  const libraries = new Map<string, PinnedTemplate>();
  const open: TemplateRef[] = [...template.imports];
  while (open.length > 0 && libraries.size < MAX_CLOSURE) {
    const key = refKey(open.pop()!);
    const library = loaded.get(key);
    if (!library || library.status === 'DISCARDED' || libraries.has(key)) continue;
    libraries.set(key, library);
    open.push(...library.imports);
  }
  return libraries;
}

/**
 * Reads `imports_json` by the grammar a save keeps to: a row that something else wrote is no template (contract 05 §7).
 *
 * @throws PenstockError template.validation.dangerous_construct; what stands there is never told
 */
export function readImports(text: string): TemplateImport[] {
  const list = readJson(text, { field: 'imports_json' });
  if (!Array.isArray(list)) throw malformed('imports');
  return list.map((entry, index) => {
    const read = readImport(entry);
    if (!read) throw malformed(`imports[${index}]`);
    return read;
  });
}

function malformed(path: string): PenstockError {
  return new PenstockError('template.validation.dangerous_construct', {
    message: `The stored template has no usable ${path}: save it again with imports of the form {"id", "version", "alias"}.`,
    details: { construct: 'import', path },
  });
}
