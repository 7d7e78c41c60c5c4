import { readFile } from 'node:fs/promises';

import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';

import { SystemActor } from '#libs/identity';
import { Configuration, isPenstockError, Logger, newId, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';

import { ConnectionTest } from '../connection-test.js';
import { CredentialUndecryptable, defectOf, open, seal, type SealDefect } from '../credentials/envelope.js';
import { KeyProvider } from '../credentials/key-ring.js';
import { readDatasourceBody } from '../datasource-body.js';
import { DatasourceRepository } from '../datasource.repository.js';
import { DatasourceService } from '../datasource.service.js';
import type { DatasourceRecord } from '../datasource.js';
import { GrantRepository } from '../grant.repository.js';
import { DatasourcePools } from '../pool/datasource-pools.js';
import { DeclaredTables } from './declared-tables.js';
import { BootstrapRefused, readBootstrapFile, type BootstrapEntry } from './bootstrap-file.js';

/** One boot at a time works through the file. */
const LOCK = 'penstock.bootstrap.datasources';

/**
 * Datasources an operator declares in a file: created once, never changed again but for a credential that stopped
 * working while the file's works (06 §7). Also says at boot which stored credentials no key opens any more.
 */
@Injectable()
export class DatasourceBootstrap implements OnApplicationBootstrap {
  readonly #file: string | undefined;
  readonly #log: Logger;

  constructor(
    private readonly db: Database,
    private readonly repository: DatasourceRepository,
    private readonly grants: GrantRepository,
    private readonly service: DatasourceService,
    private readonly test: ConnectionTest,
    private readonly pools: DatasourcePools,
    private readonly keys: KeyProvider,
    private readonly actor: SystemActor,
    private readonly declared: DeclaredTables,
    config: Configuration,
    logger: Logger,
  ) {
    this.#file = config.get('datapipelines.bootstrap.datasources-file');
    this.#log = logger.child('datasources.bootstrap');
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.warnOfLostKeys();
    if (this.#file !== undefined) await this.run(this.#file, process.env);
  }

  /**
   * A row whose key is lost cannot be used until its secret is saved anew. A later key may be missing; in the place of
   * the first, which no server starts without, stands another one.
   */
  async warnOfLostKeys(): Promise<{ datasource: string; defect: SealDefect }[]> {
    const lost: { datasource: string; defect: SealDefect }[] = [];
    for (const { name: datasource, sealed } of await this.repository.sealedCredentials(this.db)) {
      const defect = defectOf(this.keys, datasource, sealed);
      if (defect === undefined) continue;
      this.#log.warn('No key opens the credential of a datasource: bring its key back, or save the credential anew.', {
        datasource,
        key_version: sealed[0],
        defect,
      });
      lost.push({ datasource, defect });
    }
    return lost;
  }

  /** @throws BootstrapRefused, or the validation error of an entry; the boot stops on either */
  async run(file: string, environment: Readonly<Record<string, string | undefined>>): Promise<void> {
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (cause) {
      throw new BootstrapRefused('The datasources file cannot be read.', { cause });
    }
    const entries = readBootstrapFile(text, environment);
    const principal = await this.actor.principal(newId());
    await this.db.control.transaction(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock(hashtext($1))', [LOCK]);
      for (const entry of entries) await this.#apply(principal, entry);
    });
  }

  async #apply(principal: Principal, entry: BootstrapEntry): Promise<void> {
    if (!(await this.repository.isTaken(this.db, entry.name))) {
      // With its grants or not at all: a boot that ends between the two would leave it to nobody.
      await this.service.create(principal, entry.body, await this.#sharedWith(entry));
    }
    const record = await this.repository.live(this.db, entry.name);
    // A deleted name stays deleted.
    if (!record) return;
    await this.#reconcile(principal, entry, record);
    // Also of an earlier boot that ended between the two; of somebody else's datasource never.
    if (entry.lake && record.createdBy === principal.userId)
      await this.declared.register(principal, record, entry.lake);
  }

  /** @throws BootstrapRefused for a workspace that is not there, or not active */
  async #sharedWith({ name, grants }: BootstrapEntry): Promise<readonly string[]> {
    const active = await this.grants.activeWorkspaces(this.db);
    const unknown = grants?.find((workspace) => !active.includes(workspace));
    if (unknown !== undefined)
      throw new BootstrapRefused(
        `The datasource ${name}: grants names ${unknown}, and no active workspace is called so.`,
      );
    return grants ?? active;
  }

  /** The stored credential is replaced only where it fails and the file's works. */
  async #reconcile(
    principal: Principal,
    { name, body, secretVariables }: BootstrapEntry,
    record: DatasourceRecord,
  ): Promise<void> {
    const { credential } = readDatasourceBody(body).fields;
    if (credential?.secret === undefined) return;
    let stored: string | null;
    try {
      const sealed = (await this.repository.credential(this.db, name))?.sealed ?? null;
      stored = sealed === null ? null : open(this.keys, name, sealed);
    } catch (error) {
      if (!(error instanceof CredentialUndecryptable)) throw error;
      const property =
        error.keyVersion === 1
          ? 'datapipelines.db.encryption-key'
          : `datapipelines.db.encryption-keys.${error.keyVersion}`;
      this.#log.error('The credential of a datasource cannot be decrypted.', { datasource: name, property });
      return;
    }
    const { kind, username, secret } = credential;
    if (stored === secret && record.username === username && record.credentialKind === kind) return;
    if (await this.#works(record)) return;
    const candidate = { ...record, credentialKind: kind, username };
    if (!(await this.#works(candidate, secret))) {
      this.#log.error('Neither the stored nor the declared credential of a datasource works.', {
        datasource: name,
        variables: secretVariables,
      });
      return;
    }
    await this.repository.replaceCredential(this.db, name, { kind, username, sealed: seal(this.keys, name, secret) });
    await this.pools.changed(principal, name);
    this.#log.warn('The credential of a datasource was replaced by the declared one.', { datasource: name });
  }

  async #works(record: DatasourceRecord, secret?: string): Promise<boolean> {
    try {
      const outcome = await this.test.attempt(record, secret);
      const message = outcome.connected ? outcome.serverVersion : outcome.error;
      await this.repository.recordTest(this.db, record.name, outcome.connected, message);
      return outcome.connected;
    } catch (error) {
      if (isPenstockError(error)) return false;
      throw error;
    }
  }
}
