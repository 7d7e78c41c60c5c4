import { Injectable } from '@nestjs/common';

import { EgressPolicy, HostUnresolved } from '#libs/egress';
import { Configuration, isPenstockError, validationError, type Failure } from '#libs/kernel';
import { Database } from '#libs/persistence';

import { open } from './credentials/envelope.js';
import { KeyProvider } from './credentials/key-ring.js';
import { DatasourceRepository } from './datasource.repository.js';
import type { DatasourceRecord } from './datasource.js';
import type { ConfiguredSource, DriverContext, NamedHost } from './drivers/dialect-driver.js';
import { DriverFailure } from './drivers/driver-failure.js';
import { DriverRegistry } from './drivers/registry.js';
import { FileRoots } from './file-roots.js';
import type { ConnectionSource } from './pool/connection-source.js';
import { Scrubber } from './pool/scrubber.js';
import type { PoolDefaults } from './properties/hikari.js';

export interface OpenedSource {
  source: ConnectionSource;
  scrubber: Scrubber;
  defaults: PoolDefaults;
  /** Key that sealed the credential; undefined without one. */
  keyVersion: number | undefined;
}

/** Makes a row's way to its database, for pools and tests: decrypts, configures the driver, and judges every target. */
@Injectable()
export class SourceFactory {
  readonly #roots: FileRoots;
  readonly #context: DriverContext;

  constructor(
    private readonly db: Database,
    private readonly repository: DatasourceRepository,
    private readonly drivers: DriverRegistry,
    private readonly keys: KeyProvider,
    private readonly egress: EgressPolicy,
    config: Configuration,
  ) {
    this.#roots = new FileRoots(config.get('datapipelines.datasources.file-roots'));
    this.#context = {
      checkAddress: (host) => this.#addressToDial(host),
      openableFile: (file) => this.#roots.openable(file),
    };
  }

  /**
   * @param given a secret to use instead of the stored one
   * @throws CredentialUndecryptable; `datasource.driver_not_loaded`; the validation error of a row that an older
   *   version accepted and this one does not
   */
  async sourceOf(record: DatasourceRecord, given?: string): Promise<OpenedSource> {
    const driver = this.drivers.get(record.dialect);
    const result = driver.configure(record.jdbcUrl, record.properties.jdbc, record.properties.dialect);
    if (!result.ok) throw validationError(result.failures);
    const stored = given === undefined ? await this.repository.credential(this.db, record.name) : undefined;
    const sealed = stored?.sealed ?? null;
    const secret = sealed === null ? (given ?? null) : open(this.keys, record.name, sealed);
    const { name: datasource, username, credentialKind, isReadonly } = record;
    return {
      source: result.configured.source({ datasource, username, secret, credentialKind, isReadonly }, this.#context),
      scrubber: new Scrubber([secret]),
      defaults: driver.poolDefaults,
      keyVersion: sealed?.[0],
    };
  }

  /** Forbidden hosts and files outside the roots, at save. A name that does not resolve now may do so later. */
  async targetFailures({ hosts, files }: ConfiguredSource): Promise<Failure[]> {
    const failures: Failure[] = [];
    for (const { host, port, database } of hosts) {
      try {
        await this.egress.check(host, port, database === undefined ? {} : { database });
      } catch (error) {
        if (error instanceof HostUnresolved) continue;
        if (!isPenstockError(error)) throw error;
        failures.push({ code: error.code, path: 'jdbc_url', message: error.message, details: error.details });
      }
    }
    for (const file of files) {
      if (await this.#roots.admits(file)) continue;
      failures.push({
        code:
          file.property === undefined
            ? 'datasource.validation.jdbc_url_malformed'
            : 'datasource.validation.properties_invalid',
        path: file.property ?? 'jdbc_url',
        message:
          'The file lies outside the folders this server may read datasources from (datapipelines.datasources.file-roots); move it there, or ask whoever runs the server to add its folder.',
        details: { reason: 'file_root' },
      });
    }
    return failures;
  }

  async #addressToDial({ host, port, database }: NamedHost): Promise<{ address: string }> {
    try {
      return await this.egress.check(host, port, database === undefined ? {} : { database });
    } catch (error) {
      if (error instanceof HostUnresolved)
        throw new DriverFailure('connection', error.message, { driverCode: 'ENOTFOUND' });
      if (!isPenstockError(error)) throw error;
      throw new DriverFailure('connection', 'This server does not connect to that address.', {
        driverCode: 'HOST_FORBIDDEN',
      });
    }
  }
}
