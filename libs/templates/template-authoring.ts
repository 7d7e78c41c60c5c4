import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  Configuration,
  listedFailures,
  PenstockError,
  validationError,
  type Failure,
  type Principal,
} from '#libs/kernel';
import { authorise } from '#libs/identity';
import {
  decide,
  draftOf,
  newRootRefusal,
  nextVersion,
  refusal,
  requireIfMatch,
  working,
  type EntityState,
} from '#libs/lifecycle';
import { constraintOf, Database, type Transaction } from '#libs/persistence';
import { ContentBus } from '#libs/transient';
import { postureOf } from './posture.js';
import { refKey, type TemplateImport } from './pinned-template.js';
import { TemplateBrowseRepository } from './template-browse.repository.js';
import { TemplateCatalog } from './template-catalog.js';
import { readTemplateFields, type TemplateBody, type TemplateFields } from './template-fields.js';
import { templateNotFound } from './template-reading.js';
import { TemplateRepository, type VersionContent } from './template.repository.js';
import { TemplateValidation } from './template-validation.js';
import { templateView, type TemplateView } from './template-views.js';
import { versionedTransaction } from './versioned-transaction.js';

/** Answer of a validation that stores nothing. */
export interface TemplateReport {
  valid: boolean;
  failures: readonly Failure[];
  /** There are more than the failures listed. */
  truncated?: true;
  /** Templates have no remarks of their own yet; the field is the twin of the pipeline report's. */
  warnings: readonly [];
  /** The hash a save of these fields would have; null when it would be refused (contract 10 §1). */
  body_hash: string | null;
}

/** Creates templates and writes their drafts. */
@Injectable()
export class TemplateAuthoring {
  constructor(
    private readonly database: Database,
    private readonly configuration: Configuration,
    private readonly repository: TemplateRepository,
    private readonly catalog: TemplateCatalog,
    private readonly validation: TemplateValidation,
    private readonly browse: TemplateBrowseRepository,
    private readonly content: ContentBus,
  ) {}

  /**
   * Version 1 as a draft, under the given name or a generated `test/t-…`. `confirmNewRoot`: over MCP a new top-level folder
   * is made on purpose only.
   */
  async create(
    principal: Principal,
    body: TemplateBody,
    options: { confirmNewRoot?: boolean } = {},
  ): Promise<TemplateView> {
    const workspace = authorise(principal, 'template.create');
    this.#requireAuthoring();
    const { fields, failures } = readTemplateFields(body, 'create');
    const name = fields.name ?? `test/t-${randomBytes(6).toString('hex')}`;
    refuse([...failures, ...(await this.validation.judge(workspace.id, `${name}@1`, fields))]);
    const { displayName, description } = fields;
    if (principal.surface === 'mcp' && options.confirmNewRoot !== true) {
      const refused = newRootRefusal('template', name, await this.browse.roots(workspace.id));
      if (refused) throw refused;
    }
    try {
      return await versionedTransaction(this.database, 'template', async (tx) => {
        await this.#holdImports(tx, workspace.id, fields.imports);
        const entity = { workspaceId: workspace.id, name, displayName, description };
        await this.repository.create(tx, entity, contentOf(fields), principal);
        this.content.announce(tx, { kind: 'template', workspaceId: workspace.id, id: name });
        return this.#view(tx, workspace.id, name, 1);
      });
    } catch (error) {
      if (constraintOf(error)?.name !== 'uq_templates_workspace_name') throw error;
      throw new PenstockError('template.validation.duplicate_name', {
        message: 'A template of this workspace already has this name; names stay taken, discarded templates included.',
        details: { template_id: name },
      });
    }
  }

  /**
   * Writes the whole template: copy-on-write over a release, in place over a draft, nothing when the body equals the
   * release it is based on. Display name and description change either way.
   */
  async update(principal: Principal, body: TemplateBody, ifMatch: string | undefined): Promise<TemplateView> {
    const workspace = authorise(principal, 'template.update');
    this.#requireAuthoring();
    const baseHash = requireIfMatch(ifMatch);
    const { fields, failures } = readTemplateFields(body, 'update');
    const { name } = fields;
    if (name === undefined) throw validationError(failures);
    const established = await this.repository.version(workspace.id, name, undefined);
    if (!established) throw templateNotFound(name);
    if (fields.dialect !== undefined && fields.dialect !== established.dialect) {
      failures.push(dialectChanged(name, fields.dialect, established.dialect));
    }
    const number = await this.#nextNumber(established);
    refuse([...failures, ...(await this.validation.judge(workspace.id, `${name}@${number}`, fields))]);
    const content = contentOf({ ...fields, dialect: established.dialect });
    return versionedTransaction(this.database, 'template', async (tx) => {
      const entity = await this.repository.lock(tx, workspace.id, name);
      if (!entity) throw templateNotFound(name);
      const version = await this.#write(tx, workspace.id, entity, content, baseHash, principal);
      await this.repository.describe(tx, entity.id, fields.displayName, fields.description);
      this.content.announce(tx, { kind: 'template', workspaceId: workspace.id, id: name });
      return this.#view(tx, workspace.id, name, version);
    });
  }

  /**
   * Judges fields as a save would, and stores nothing: as an update where `id` names a template of the workspace, so that
   * the dialect may be left out there; as a creation otherwise.
   */
  async validate(principal: Principal, body: TemplateBody): Promise<TemplateReport> {
    const workspace = authorise(principal, 'template.validate');
    const { name } = readTemplateFields(body, 'update').fields;
    const known = name === undefined ? undefined : await this.repository.version(workspace.id, name, undefined);
    const { fields, failures } = readTemplateFields(body, known ? 'update' : 'create');
    if (known && fields.dialect !== undefined && fields.dialect !== known.dialect) {
      failures.push(dialectChanged(known.name, fields.dialect, known.dialect));
    }
    const self = `${fields.name ?? UNNAMED}@${known ? await this.#nextNumber(known) : 1}`;
    failures.push(...(await this.validation.judge(workspace.id, self, fields)));
    const valid = failures.length === 0;
    const content = contentOf({ ...fields, dialect: known?.dialect ?? fields.dialect });
    const body_hash = valid ? await this.repository.hash(this.database, content) : null;
    return { valid, ...listedFailures(failures), warnings: [], body_hash };
  }

  /** The number a write would give: of the draft that stands, or of the next. */
  async #nextNumber(established: { templateId: string; currentVersion: number | null }): Promise<number> {
    const state = await this.repository.state(this.database, { ...established, id: established.templateId });
    return draftOf(state)?.version ?? nextVersion(state.versions);
  }

  /** The number of the version that now holds the content. */
  async #write(
    tx: Transaction,
    workspaceId: string,
    entity: { id: string; currentVersion: number | null },
    content: VersionContent,
    baseHash: string,
    principal: Principal,
  ): Promise<number> {
    const state = await this.repository.state(tx, entity);
    const base = working(state);
    const sameBody = base?.status === 'RELEASED' && base.bodyHash === (await this.repository.hash(tx, content));
    const decision = decide('write', state, { baseHash, sameBody }, postureOf(this.configuration));
    if (!decision.allowed) throw refusal('template', decision);
    const { effect } = decision;
    await this.#holdImports(tx, workspaceId, content.imports);
    if (effect.kind === 'insertDraft') {
      await this.repository.insertDraft(tx, entity.id, effect.version, content, principal);
      return effect.version;
    }
    if (effect.kind === 'overwriteDraft') {
      const written = await this.repository.overwriteDraft(tx, entity.id, effect, content, principal);
      if (!written) throw await this.#lost(tx, entity);
      return effect.version;
    }
    return base!.version;
  }

  /** The conflict with what stands there now. */
  async #lost(tx: Transaction, entity: { id: string; currentVersion: number | null }): Promise<PenstockError> {
    const state: EntityState = await this.repository.state(tx, entity);
    return refusal('template', { reason: 'conflict', subject: working(state) });
  }

  /** Imported versions may not vanish between validation and commit (contract 05 §10.1). */
  async #holdImports(tx: Transaction, workspaceId: string, imports: readonly TemplateImport[]): Promise<void> {
    const held = await this.catalog.hold(tx, workspaceId, imports);
    const gone = imports.findIndex((ref) => {
      const version = held.get(refKey(ref));
      return version === undefined || version.status === 'DISCARDED' || !version.isLibrary;
    });
    if (gone < 0) return;
    refuse([
      {
        code: 'template.validation.import_not_found',
        path: `imports[${gone}]`,
        message: 'The imported version was discarded or purged in the meantime.',
        details: { import: { id: imports[gone]!.id, version: imports[gone]!.version } },
      },
    ]);
  }

  async #view(tx: Transaction, workspaceId: string, name: string, version: number): Promise<TemplateView> {
    const row = await this.repository.version(workspaceId, name, version, tx);
    if (!row) throw templateNotFound(name, version);
    return templateView(row);
  }

  #requireAuthoring(): void {
    if (!postureOf(this.configuration).authoringEnabled) throw refusal('template', { reason: 'authoring_disabled' });
  }
}

/** Stands for the name a creation would make up. */
const UNNAMED = 'test/t-new';

function contentOf({ dialect, isLibrary, imports, body }: TemplateFields): VersionContent {
  return { dialect: dialect!, isLibrary, imports, body };
}

function refuse(failures: readonly Failure[]): void {
  if (failures.length > 0) throw validationError(failures);
}

function dialectChanged(name: string, dialect: string, established: string): Failure {
  return {
    code: 'template.validation.dialect_invalid',
    path: 'dialect',
    message: `The template is written for ${established}: leave "dialect" out, or create another template for ${dialect}.`,
    details: { dialect, established_dialect: established, template_id: name },
  };
}
