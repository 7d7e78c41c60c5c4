import { Injectable } from '@nestjs/common';

import { AuditLog } from '#libs/audit';
import { authorise, authoriseInstance } from '#libs/identity';
import {
  PenstockError,
  validationError,
  writeJson,
  type Failure,
  type JsonObject,
  type KeysetListing,
  type KeysetPage,
  type Principal,
} from '#libs/kernel';
import { constraintOf, Database, type Transaction } from '#libs/persistence';

import { ConnectionTest, type ConnectionTestView } from './connection-test.js';
import { checkCredential } from './credentials/credential-rules.js';
import { seal } from './credentials/envelope.js';
import { KeyProvider } from './credentials/key-ring.js';
import { nameFailure, readDatasourceBody, type DatasourceBody } from './datasource-body.js';
import { DatasourceGrants, type GrantView, type Share } from './datasource-grants.js';
import { DatasourceOwnership, isSuperAdmin } from './datasource-ownership.js';
import { DatasourceReferences, type DatasourceReference } from './datasource-references.js';
import { datasourceView, type DatasourceView } from './datasource-view.js';
import type { DatasourceRecord } from './datasource.js';
import { DatasourceRepository, type DatasourceSelection, type DatasourceWrite } from './datasource.repository.js';
import { DriverRegistry } from './drivers/registry.js';
import { GrantRepository } from './grant.repository.js';
import { DatasourcePools } from './pool/datasource-pools.js';
import { checkHikari } from './properties/hikari.js';
import { SourceFactory } from './source-factory.js';

/** What a list shows. An unknown dialect matches nothing. */
export interface DatasourceFilter {
  dialect?: string | undefined;
  /** Every datasource of the instance, for super admins in a session. */
  all?: boolean | undefined;
}

/** Registered datasources, as every door offers them (06 §1). */
@Injectable()
export class DatasourceService {
  constructor(
    private readonly db: Database,
    private readonly repository: DatasourceRepository,
    private readonly grantRows: GrantRepository,
    private readonly ownership: DatasourceOwnership,
    private readonly grantActs: DatasourceGrants,
    private readonly references: DatasourceReferences,
    private readonly drivers: DriverRegistry,
    private readonly sources: SourceFactory,
    private readonly keys: KeyProvider,
    private readonly pools: DatasourcePools,
    private readonly connectionTest: ConnectionTest,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Registers a datasource and grants it to its owner. The database behind it need not answer.
   *
   * @throws 400 with every defect in `details.failures`; 409 `datasource.validation.duplicate_name` for a name in use
   *   anywhere, deleted ones included; 403 for an in-process dialect without a super admin session
   * @param sharedWith further workspaces that see it from the start, for whoever may grant
   */
  async create(principal: Principal, body: JsonObject, sharedWith: readonly string[] = []): Promise<DatasourceView> {
    this.ownership.authoriseManage(principal);
    const name = nameFailure(body['name']);
    const write = await this.#checked(
      principal,
      String(body['name'] ?? ''),
      readDatasourceBody(body),
      undefined,
      name ? [name] : [],
    );
    const shares: Share[] = [];
    for (const workspace of sharedWith) shares.push(await this.grantActs.shareWith(principal, workspace));
    try {
      return await this.db.transaction(async (tx) => {
        await this.repository.insert(tx, write, principal.userId);
        const owner = write.ownerWorkspaceId;
        if (owner !== null) await this.grantRows.grant(tx, write.name, owner, principal.userId);
        await this.audit.append(tx, principal, 'datasource.created', { datasource: write.name });
        for (const share of shares) await this.grantActs.put(tx, principal, write.name, share);
        this.#announce(tx, principal, write.name);
        return await this.#view(tx, principal, write.name);
      });
    } catch (error) {
      if (constraintOf(error)?.name !== 'datasources_pkey') throw error;
      throw new PenstockError('datasource.validation.duplicate_name', { details: { datasource: write.name } });
    }
  }

  /** Replaces a datasource whole; last writer wins. The stored secret stays while the kind does. */
  async update(principal: Principal, name: string, body: JsonObject): Promise<DatasourceView> {
    this.ownership.authoriseManage(principal);
    const stored = await this.ownership.manageable(principal, name);
    const nameDefect = nameFailure(body['name'] ?? name, name);
    const write = await this.#checked(
      principal,
      name,
      readDatasourceBody(body),
      stored,
      nameDefect ? [nameDefect] : [],
    );
    return await this.db.transaction(async (tx) => {
      if (!(await this.repository.update(tx, write))) throw await this.#lostUpdate(tx, name);
      const owner = write.ownerWorkspaceId;
      if (owner !== null && owner !== stored.ownerWorkspaceId)
        await this.grantRows.grant(tx, name, owner, principal.userId);
      await this.audit.append(tx, principal, 'datasource.updated', {
        datasource: name,
        fields: changedFields(stored, write),
      });
      if (write.credential !== null && stored.credentialKind !== 'none') {
        await this.audit.append(tx, principal, 'datasource.key_rotation', {
          datasource: name,
          key_version: this.keys.current().version,
        });
      }
      this.#announce(tx, principal, name);
      return await this.#view(tx, principal, name);
    });
  }

  async read(principal: Principal, name: string): Promise<DatasourceView> {
    return datasourceView(await this.find(principal, name), this.drivers);
  }

  /** As {@link read}, without the wire's form. */
  async find(principal: Principal, name: string): Promise<DatasourceRecord> {
    const workspace = authorise(principal, 'datasource.read');
    const record = await this.repository.visible(this.db, workspace.id, name);
    if (!record) throw new PenstockError('datasource.not_found', { details: { datasource: name } });
    return record;
  }

  /** Who refers to a datasource: the versions of this workspace's pipelines, and how many references are elsewhere. */
  async referencesTo(
    principal: Principal,
    name: string,
  ): Promise<{ references: DatasourceReference[]; hidden: number }> {
    await this.find(principal, name);
    const { id } = authorise(principal, 'datasource.read');
    return this.references.references(this.db, name, [id]);
  }

  /** By name, which `after` and `before` are. */
  async list(principal: Principal, filter: DatasourceFilter, page: KeysetPage): Promise<KeysetListing<DatasourceView>> {
    const found = await this.repository.page(this.db, selection(principal, filter), page);
    if (filter.all) await this.ownership.reached(principal, 'datasource.grant', found.items);
    return { ...found, items: found.items.map((record) => datasourceView(record, this.drivers)) };
  }

  async count(principal: Principal, filter: DatasourceFilter): Promise<number> {
    return await this.repository.count(this.db, selection(principal, filter));
  }

  /** Soft: the name is never free again. @throws 409 `datasource.in_use` while any stored pipeline version refers to it */
  async remove(principal: Principal, name: string): Promise<void> {
    this.ownership.authoriseManage(principal);
    await this.ownership.manageable(principal, name);
    this.ownership.requireOpen(principal);
    await this.db.transaction(async (tx) => {
      if (!(await this.repository.lock(tx, name)))
        throw new PenstockError('datasource.not_found', { details: { datasource: name } });
      const visible = principal.workspace ? [principal.workspace.id] : [];
      const { references, hidden } = await this.references.references(tx, name, visible);
      if (references.length > 0 || hidden > 0) {
        throw new PenstockError('datasource.in_use', {
          details: {
            datasource_name: name,
            referencing_pipelines: [...new Set(references.map(({ pipeline }) => pipeline))],
            references,
            hidden_references: hidden,
          },
        });
      }
      await this.repository.softDelete(tx, name);
      await this.audit.append(tx, principal, 'datasource.deleted', { datasource: name });
      this.#announce(tx, principal, name);
    });
  }

  /** Connects once, apart from the pool; 200 whatever the database says (06 §7). */
  async test(principal: Principal, name: string): Promise<ConnectionTestView> {
    return await this.connectionTest.run(principal, name);
  }

  grants(principal: Principal, name: string): Promise<GrantView[]> {
    return this.grantActs.list(principal, name);
  }

  grant(
    principal: Principal,
    name: string,
    workspace: string,
  ): Promise<{ datasource: string; workspace: string; granted: true }> {
    return this.grantActs.grant(principal, name, workspace);
  }

  revoke(principal: Principal, name: string, workspace: string): Promise<void> {
    return this.grantActs.revoke(principal, name, workspace);
  }

  /** Fields → driver loads → URL and properties → targets → secret sealed; all defects of a step at once. */
  async #checked(
    principal: Principal,
    name: string,
    { fields, failures: fieldFailures }: DatasourceBody,
    stored: DatasourceRecord | undefined,
    nameFailures: readonly Failure[],
  ): Promise<DatasourceWrite> {
    this.ownership.authoriseDialect(principal, fields.dialect);
    const failures = [...nameFailures, ...fieldFailures];
    const { ownerId, failures: ownerFailures } = await this.ownership.owner(principal, fields, stored);
    failures.push(...ownerFailures);
    const { dialect, properties } = fields;
    const driver = dialect && this.drivers.find(dialect);
    if (dialect && !driver) {
      failures.push({
        code: 'datasource.driver_not_loaded',
        path: 'dialect',
        message: `This server has no driver for ${dialect}.`,
        details: { dialect },
      });
    }
    const credential = fields.credential ?? impliedCredential(stored, driver?.credentialKinds ?? []);
    failures.push(...checkHikari(properties.hikari));
    if (driver) {
      failures.push(...checkCredential(credential, driver.credentialKinds, stored?.credentialKind));
      const result =
        fields.jdbcUrl === '' ? undefined : driver.configure(fields.jdbcUrl, properties.jdbc, properties.dialect);
      if (result?.ok === false) failures.push(...result.failures);
      if (result?.ok === true) failures.push(...(await this.sources.targetFailures(result.configured)));
    }
    if (failures.length > 0 || !dialect) throw validationError(failures);
    const { kind, username, secret } = credential;
    return {
      name,
      displayName: fields.displayName,
      description: fields.description,
      dialect,
      jdbcUrl: fields.jdbcUrl,
      username,
      credentialKind: kind,
      credential: kind === 'none' || secret === undefined ? null : seal(this.keys, name, secret),
      propertiesJson: writeJson(properties.stored),
      queryTimeoutSeconds: fields.queryTimeoutSeconds,
      includeSchemasJson: writeJson(fields.includeSchemas),
      ownerWorkspaceId: ownerId,
      isReadonly: fields.readonly ?? stored?.isReadonly ?? false,
    };
  }

  /** The row went, or another writer changed the kind whose secret was to be kept. */
  async #lostUpdate(tx: Transaction, name: string): Promise<PenstockError> {
    const present = await this.repository.live(tx, name);
    return present
      ? new PenstockError('datasource.validation.password_missing', { details: { reason: 'kind_changed' } })
      : new PenstockError('datasource.not_found', { details: { datasource: name } });
  }

  #announce(tx: Transaction, principal: Principal, name: string): void {
    tx.afterCommit(() => this.pools.changed(principal, name));
  }

  /** Read before the commit, so that an act that cannot be answered has not happened. */
  async #view(tx: Transaction, principal: Principal, name: string): Promise<DatasourceView> {
    const record = await this.repository.live(tx, name, principal.workspace?.id ?? null);
    if (!record) throw new PenstockError('datasource.not_found', { details: { datasource: name } });
    // The writer of a datasource sees it, granted to his own workspace or not.
    return datasourceView(isSuperAdmin(principal) ? { ...record, granted: true } : record, this.drivers);
  }
}

function selection(principal: Principal, { dialect, all = false }: DatasourceFilter): DatasourceSelection {
  if (all) authoriseInstance(principal, 'datasource.grant');
  const workspaceId = all ? (principal.workspace?.id ?? null) : authorise(principal, 'datasource.read').id;
  return { workspaceId, all, dialect };
}

/** No credential in the body: the stored one on PUT, none at all where the dialect needs none. */
function impliedCredential(stored: DatasourceRecord | undefined, supported: readonly string[]) {
  if (stored) return { kind: stored.credentialKind, username: stored.username, secret: undefined };
  const kind = supported.includes('none') ? ('none' as const) : ('password' as const);
  return { kind, username: null, secret: undefined };
}

function changedFields(stored: DatasourceRecord, write: DatasourceWrite): string[] {
  const pairs: [string, unknown, unknown][] = [
    ['display_name', stored.displayName, write.displayName],
    ['description', stored.description, write.description],
    ['dialect', stored.dialect, write.dialect],
    ['url', stored.jdbcUrl, write.jdbcUrl],
    ['username', stored.username, write.username],
    ['credential_kind', stored.credentialKind, write.credentialKind],
    ['query_timeout_seconds', stored.queryTimeoutSeconds, write.queryTimeoutSeconds],
    ['readonly', stored.isReadonly, write.isReadonly],
    ['owner', stored.ownerWorkspaceId, write.ownerWorkspaceId],
    ['properties', writeJson(stored.properties.stored), write.propertiesJson],
    ['introspection_include_schemas', writeJson([...stored.includeSchemas]), write.includeSchemasJson],
  ];
  const changed = pairs.filter(([, before, after]) => before !== after).map(([field]) => field);
  return write.credential === null ? changed : [...changed, 'credential'];
}
