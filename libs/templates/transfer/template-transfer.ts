import { Injectable } from '@nestjs/common';
import {
  Configuration,
  validationError,
  type ActingWorkspace,
  type Failure,
  type JsonObject,
  type JsonValue,
  type Principal,
} from '#libs/kernel';
import { AuditLog } from '#libs/audit';
import { authorise } from '#libs/identity';
import { decide, hashMismatch, nextVersion } from '#libs/lifecycle';
import { Database, type Transaction } from '#libs/persistence';
import type { Dialect } from '#libs/typesystem';
import { ContentBus } from '#libs/transient';
import { refKey, type PinnedTemplate, type TemplateRef } from '../pinned-template.js';
import { postureOf } from '../posture.js';
import { reflected } from '../reflected.js';
import { librariesFirst, TemplateReleases } from '../template-releases.js';
import { TemplateCatalog } from '../template-catalog.js';
import {
  TemplateRepository,
  type CurrentTemplate,
  type TemplateEntity,
  type VersionContent,
} from '../template.repository.js';
import { TemplateValidation } from '../template-validation.js';
import { versionedTransaction } from '../versioned-transaction.js';
import { readTemplateFiles, templateFile, type ReadTemplateFile, type TemplateFile } from './template-file.js';

/** What became of one entry. `imported` is false when the same release was here already. */
export interface ImportedTemplate {
  id: string;
  version: number;
  status: 'RELEASED';
  body_hash: string;
  imported: boolean;
}

export interface StoreOptions {
  /** A release of a higher number than the current one becomes current; without it a pointer that is set stays. */
  raisePointers?: boolean;
}

export interface TemplateImportReport {
  templates: ImportedTemplate[];
}

/**
 * Templates as files: released versions with their hashes, in and out (contract 05 §12). An import is all or nothing,
 * lands RELEASED at its own number, opens no draft, moves no pointer that is set, and works where authoring is off.
 */
@Injectable()
export class TemplateTransfer {
  constructor(
    private readonly database: Database,
    private readonly configuration: Configuration,
    private readonly repository: TemplateRepository,
    private readonly catalog: TemplateCatalog,
    private readonly validation: TemplateValidation,
    private readonly releases: TemplateReleases,
    private readonly audit: AuditLog,
    private readonly content: ContentBus,
  ) {}

  /** `body` is `{templates: [a file each]}`. */
  async import(principal: Principal, body: JsonObject): Promise<TemplateImportReport> {
    const workspace = authorise(principal, 'template.import');
    const stray = Object.keys(body).find((key) => key !== 'templates');
    if (stray !== undefined) throw validationError([strayMember(stray)]);
    const files = await this.read('templates', body['templates']);
    return versionedTransaction(this.database, 'template', async (tx) => ({
      templates: await this.store(tx, workspace, principal, files),
    }));
  }

  /**
   * Reads and parses the entries of a file, and holds each against its hash: a rendered template is remembered by that,
   * so what goes under a false one must never be rendered. Their imports are judged where they are stored.
   * @throws PenstockError with every failure of every entry
   */
  async read(path: string, entries: JsonValue | undefined): Promise<ReadTemplateFile[]> {
    const most = this.configuration.get('datapipelines.limits.max-import-entries');
    const { files, failures } = readTemplateFiles(path, entries, most);
    for (const { path: at, fields } of files) {
      const found = await this.validation.judge('', '', { ...fields, imports: [] });
      failures.push(...found.map((failure) => ({ ...failure, path: `${at}.${failure.path}` })));
    }
    if (failures.length === 0) failures.push(...(await this.#falseHashes(files)));
    if (failures.length > 0) throw validationError(failures);
    return files;
  }

  async #falseHashes(files: readonly ReadTemplateFile[]): Promise<Failure[]> {
    const marked = files.filter(({ mark }) => mark.bodyHash !== undefined);
    const hashes = await this.repository.hashes(
      this.database,
      marked.map(({ fields }) => fields),
    );
    return marked.flatMap((file, index) =>
      file.mark.bodyHash === hashes[index] ? [] : [falseHash(file, hashes[index]!)],
    );
  }

  /** Stores every entry, or throws with all that refuses; the caller's transaction then leaves nothing behind. */
  async store(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    files: readonly ReadTemplateFile[],
    options: StoreOptions = {},
  ): Promise<ImportedTemplate[]> {
    const entities = await this.#entities(tx, workspace, principal, files);
    const failures: Failure[] = [];
    const imported: ImportedTemplate[] = [];
    for (const file of files) {
      const entity = entities.get(file.name)!;
      const outcome = await this.#place(tx, workspace, principal, entity, file);
      if ('failures' in outcome) failures.push(...outcome.failures);
      else imported.push(outcome);
      if (!('failures' in outcome) && options.raisePointers)
        await this.#raise(tx, workspace, principal, entity, outcome);
    }
    if (failures.length > 0) throw validationError(failures);
    for (const { id, version, imported: fresh } of imported) {
      if (fresh) await this.releases.requireReleasedImports(tx, workspace.id, id, version);
    }
    return imported;
  }

  /** The pointer never falls: it moves to a release of a higher number only. */
  async #raise(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    entity: TemplateEntity,
    { id: name, version }: ImportedTemplate,
  ): Promise<void> {
    const from = entity.currentVersion;
    if (version <= (from ?? 0)) return;
    await this.repository.movePointer(tx, entity.id, version);
    entity.currentVersion = version;
    this.content.announce(tx, { kind: 'template', workspaceId: workspace.id, id: name });
    const details = { id: entity.id, name, version, from, to: version, via: principal.surface };
    await this.audit.append(tx, { ...principal, workspace }, 'template.current_switched', details);
  }

  /** The released versions behind pins and every library they reach, libraries first. */
  async files(workspaceId: string, refs: readonly TemplateRef[]): Promise<TemplateFile[]> {
    const closures = await this.catalog.load(workspaceId, refs);
    const ordered = librariesFirst([...closures.values()]).map(({ name, version }) => ({ id: name, version }));
    const rows = await this.repository.versionsAmong(workspaceId, ordered);
    const byKey = new Map(rows.map((row) => [refKey({ id: row.name, version: row.version }), row]));
    return ordered.flatMap((ref) => {
      const row = byKey.get(refKey(ref));
      return row ? [templateFile(row)] : [];
    });
  }

  /** What the workspace has current, for who asks what may be sent here. Authorises nothing: its callers did. */
  current(workspaceId: string): Promise<CurrentTemplate[]> {
    return this.repository.currentVersions(workspaceId);
  }

  /** Takes the index rows of all names, new ones included, in the order of their ids. */
  async #entities(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    files: readonly ReadTemplateFile[],
  ): Promise<Map<string, TemplateEntity & { dialect: Dialect | null }>> {
    const named = new Map(files.map((file) => [file.name, file]));
    await this.repository.createEntities(
      tx,
      workspace.id,
      [...named.values()].map(({ name, fields }) => ({ ...fields, name })),
      principal.userId,
    );
    const locked = await this.repository.lockAll(tx, workspace.id, [...named.keys()]);
    const dialects = await this.repository.dialects(
      tx,
      locked.map(({ id }) => id),
    );
    return new Map(locked.map((entity) => [entity.name, { ...entity, dialect: dialects.get(entity.id) ?? null }]));
  }

  async #place(
    tx: Transaction,
    workspace: ActingWorkspace,
    principal: Principal,
    entity: TemplateEntity & { dialect: Dialect | null },
    { path, name, fields, mark }: ReadTemplateFile,
  ): Promise<ImportedTemplate | { failures: Failure[] }> {
    const content: VersionContent = fields;
    const hash = await this.repository.hash(tx, content);
    const state = await this.repository.state(tx, entity);
    const decision = decide('import', state, { version: mark.version, bodyHash: hash }, postureOf(this.configuration));
    const version = mark.version ?? nextVersion(state.versions);
    if (!decision.allowed) {
      return { failures: [taken(path, name, { version, hash }, decision.subject)] };
    }
    if (decision.effect.kind !== 'insertReleased') {
      return { id: name, version, status: 'RELEASED', body_hash: hash, imported: false };
    }
    if (entity.dialect !== null && entity.dialect !== fields.dialect) {
      return { failures: [otherDialect(path, name, fields.dialect, entity.dialect)] };
    }
    const judged = await this.validation.judge(workspace.id, `${name}@${version}`, { ...fields, body: '' }, tx);
    if (judged.length > 0) {
      return { failures: judged.map((failure) => ({ ...failure, path: `${path}.${failure.path}` })) };
    }
    await this.repository.insertReleased(tx, entity.id, version, content, principal.userId, mark.releasedAt);
    if (decision.currentVersion !== entity.currentVersion) {
      await this.repository.movePointer(tx, entity.id, decision.currentVersion);
      entity.currentVersion = decision.currentVersion;
    }
    entity.dialect = fields.dialect;
    this.content.announce(tx, { kind: 'template', workspaceId: workspace.id, id: name });
    if (version === nextVersion(state.versions)) {
      await this.repository.describe(tx, entity.id, fields.displayName, fields.description);
    }
    await this.audit.append(tx, { ...principal, workspace }, 'template.version.released', {
      id: entity.id,
      name,
      version,
      via: principal.surface,
    });
    return { id: name, version, status: 'RELEASED', body_hash: hash, imported: true };
  }
}

/** A file's entries as the catalogue would find them once they are stored; those without a number have none yet. */
export function offeredTemplates(files: readonly ReadTemplateFile[]): Map<string, PinnedTemplate> {
  return new Map(
    files.flatMap(({ name, fields, mark: { version, bodyHash } }): [string, PinnedTemplate][] => {
      if (version === undefined || bodyHash === undefined) return [];
      const { dialect, isLibrary, body, imports } = fields;
      const template = { templateId: '', name, version, status: 'RELEASED' as const, bodyHash };
      return [[refKey({ id: name, version }), { ...template, dialect, isLibrary, body, imports }]];
    }),
  );
}

function falseHash({ path, name, mark }: ReadTemplateFile, computed: string): Failure {
  const message = 'The content does not hash to its "body_hash": the file was changed or damaged; export it again.';
  const details = { template_id: name, body_hash: mark.bodyHash, computed_body_hash: computed };
  return hashMismatch('template', `${path}.body_hash`, message, details);
}

function strayMember(key: string): Failure {
  const field = reflected(key);
  return {
    code: 'pipeline.execution.invalid_parameter_type',
    path: field,
    message: 'An import of templates holds "templates", nothing else.',
    details: { field, reason: 'unknown_field' },
  };
}

function taken(
  path: string,
  name: string,
  { version, hash }: { version: number; hash: string },
  subject: { status: string; bodyHash: string } | undefined,
): Failure {
  return {
    code: 'template.version.conflict',
    path: `${path}.version`,
    message: `Version ${version} of "${name}" exists here with another content or status: import it without "version" to make it the next one.`,
    details: {
      template_id: name,
      template_version: version,
      body_hash: hash,
      current_body_hash: subject?.bodyHash ?? null,
      current_status: subject?.status ?? null,
    },
  };
}

function otherDialect(path: string, name: string, dialect: Dialect, established: Dialect): Failure {
  return {
    code: 'template.validation.dialect_invalid',
    path: `${path}.dialect`,
    message: `The template "${name}" is written for ${established} here, the file for ${dialect}: import it under another name.`,
    details: { dialect, established_dialect: established, template_id: name },
  };
}
