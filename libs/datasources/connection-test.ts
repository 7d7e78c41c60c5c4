import { performance } from 'node:perf_hooks';

import { Injectable } from '@nestjs/common';

import { AuditLog } from '#libs/audit';
import { authorise, authoriseInstance } from '#libs/identity';
import { PenstockError, toWireStamp, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';

import { CredentialUndecryptable } from './credentials/envelope.js';
import { DatasourceOwnership, isSuperAdmin } from './datasource-ownership.js';
import { DatasourceRepository } from './datasource.repository.js';
import type { DatasourceRecord } from './datasource.js';
import { deepestMessage, DriverFailure } from './drivers/driver-failure.js';
import { DriverRegistry } from './drivers/registry.js';
import type { ConnectionSource } from './pool/connection-source.js';
import { Scrubber } from './pool/scrubber.js';
import { poolView } from './properties/hikari.js';
import { SourceFactory } from './source-factory.js';

export interface ConnectionTestView {
  connected: boolean;
  tested_at: string;
  latency_ms?: number;
  server_version?: string;
  error?: string;
  error_class?: string;
}

type Outcome =
  | { connected: true; latencyMs: number; serverVersion: string }
  | { connected: false; error: string; errorClass: string };

const MOST_MS = 30_000;
const MAX_TEXT = 2000;

/** Connects once, apart from the pool, and remembers what happened (06 §7). */
@Injectable()
export class ConnectionTest {
  constructor(
    private readonly db: Database,
    private readonly repository: DatasourceRepository,
    private readonly drivers: DriverRegistry,
    private readonly sources: SourceFactory,
    private readonly audit: AuditLog,
    private readonly ownership: DatasourceOwnership,
  ) {}

  async run(principal: Principal, name: string): Promise<ConnectionTestView> {
    const record = await this.#testable(principal, name);
    const outcome = await this.attempt(record);
    const message = outcome.connected ? outcome.serverVersion : outcome.error;
    const testedAt = await this.db.transaction(async (tx) => {
      const at = await this.repository.recordTest(tx, name, outcome.connected, message);
      await this.audit.append(tx, principal, 'datasource.connection_test', { datasource: name, ok: outcome.connected });
      return at;
    });
    if (testedAt === '') throw new PenstockError('datasource.not_found', { details: { datasource: name } });
    const tested_at = toWireStamp(testedAt);
    return outcome.connected
      ? { connected: true, tested_at, latency_ms: outcome.latencyMs, server_version: outcome.serverVersion }
      : { connected: false, tested_at, error: outcome.error, error_class: outcome.errorClass };
  }

  /**
   * One throw-away connection within min(connectionTimeout, 30 s). Never rejects for what the database does.
   * `secret` stands in for the stored one.
   */
  async attempt(record: DatasourceRecord, secret?: string): Promise<Outcome> {
    const driver = this.drivers.get(record.dialect);
    const configured = poolView(record.properties.hikari, driver.poolDefaults).connectionTimeout.value;
    const signal = AbortSignal.timeout(Math.min(configured === 0 ? MOST_MS : configured, MOST_MS));
    const started = performance.now();
    let scrubber = new Scrubber([record.username, record.jdbcUrl]);
    try {
      const opened = await this.sources.sourceOf(record, secret);
      scrubber = opened.scrubber.with([record.username, record.jdbcUrl]);
      try {
        const serverVersion = await versionOf(opened.source, driver.versionQuery, signal);
        return { connected: true, latencyMs: Math.round(performance.now() - started), serverVersion };
      } finally {
        await opened.source.close();
      }
    } catch (error) {
      if (error instanceof CredentialUndecryptable)
        return { connected: false, error: error.message, errorClass: 'CREDENTIAL' };
      if (!(error instanceof DriverFailure)) throw error;
      const timedOut = error.kind === 'cancelled';
      const text = timedOut ? 'The datasource did not answer in time.' : deepestMessage(error);
      return {
        connected: false,
        error: scrubber.text(text).slice(0, MAX_TEXT),
        errorClass: timedOut ? 'ETIMEDOUT' : (error.driverCode ?? error.kind),
      };
    }
  }

  async #testable(principal: Principal, name: string): Promise<DatasourceRecord> {
    const superAdmin = isSuperAdmin(principal);
    if (superAdmin) authoriseInstance(principal, 'datasource.manage_instance');
    const record = superAdmin
      ? await this.repository.live(this.db, name)
      : await this.repository.visible(this.db, authorise(principal, 'datasource.test').id, name);
    if (!record) throw new PenstockError('datasource.not_found', { details: { datasource: name } });
    if (superAdmin) await this.ownership.reached(principal, 'datasource.test', [record]);
    return record;
  }
}

async function versionOf(source: ConnectionSource, query: string, signal: AbortSignal): Promise<string> {
  if (source.probe) return await source.probe(signal);
  const connection = await source.connect('read', signal);
  try {
    const [row] = await connection.catalog({ sql: query, values: [] }, signal);
    return row?.[0] ?? '';
  } finally {
    await connection.close();
  }
}
