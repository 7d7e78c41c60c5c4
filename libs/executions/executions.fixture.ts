import { Registry } from 'prom-client';
import { AuditRepository } from '#libs/audit';
import { NativeCallGate, type DatasourceAccess } from '#libs/datasources';
import {
  loadConfiguration,
  newId,
  SilentLogger,
  SystemClock,
  writeJson,
  type Configuration,
  type Logger,
  type Principal,
} from '#libs/kernel';
import type { Database } from '#libs/persistence';
import { ContextBuilder, PipelineCatalog } from '#libs/pipelines';
import { TemplateCatalog, TemplateRenderer } from '#libs/templates';
import { MemoryTransientStore, type TransientStore } from '#libs/transient';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { DataReadyRows } from './events/data-ready-rows.js';
import { ExecutionEvents } from './events/execution-events.js';
import type { EventFrame } from './events/event-watch.js';
import { ExecutionMetrics } from './execution-metrics.js';
import { ChildLauncher } from './family/child-launcher.js';
import { Drain } from './instance/drain.js';
import { ExecutionInstance } from './instance/execution-instance.js';
import { InstanceRoster } from './instance/instance-roster.js';
import { ExecutionJobs } from './jobs/execution-jobs.js';
import { Retention } from './jobs/retention.js';
import { Sweep } from './jobs/sweep.js';
import { Idempotency } from './launch/idempotency.js';
import type { Launched, LaunchRequest } from './launch/launch-request.js';
import { Launcher } from './launch/launcher.js';
import { ExecutionBatchReading } from './reading/execution-batch-reading.js';
import { ExecutionRepository } from './reading/execution.repository.js';
import { ExecutionResults } from './reading/execution-results.js';
import { ExecutionService } from './reading/execution.service.js';
import { VisibleExecutions } from './reading/visible-executions.js';
import { EventTable } from './records/event-table.js';
import { ExecutionInserts } from './records/execution-inserts.js';
import { FinishedRuns } from './records/finished-runs.js';
import { PurgeExecutions } from './records/purge-executions.js';
import { ResultReader } from './results/result-reader.js';

/** A node as a test writes it; the SQL becomes a template of its own. */
export interface TestNode {
  id: string;
  sql?: string;
  /** `kind`, `inputs` and the keys of a CALCULATOR node, which has no SQL. */
  calculator?: object;
  /** Id of the pipeline a PIPELINE node calls, in version 1. */
  child?: string;
  /** What the child is given. */
  parameters?: object;
  type?: 'DQL' | 'DML' | 'DDL';
  source?: string;
  dialect?: string;
  output?: object;
  after?: string[];
  settings?: object;
}

/** A workspace with a person in it, on a migrated database; pipelines are written straight into the tables. */
export class TestWorkspace {
  readonly workspaceId = newId();
  readonly userId = newId();
  readonly name = `w${this.workspaceId.slice(0, 8)}`;

  private constructor(readonly database: Database) {}

  static async create(database: Database): Promise<TestWorkspace> {
    const workspace = new TestWorkspace(database);
    await database.execute(
      `INSERT INTO users (id, email, display_name, provider, provider_subject) VALUES ($1, $2, 'Test', 'local', $2)`,
      [workspace.userId, `${workspace.userId}@example.test`],
    );
    await database.execute('INSERT INTO workspaces (id, name, display_name, created_by) VALUES ($1, $2, $2, $3)', [
      workspace.workspaceId,
      workspace.name,
      workspace.userId,
    ]);
    return workspace;
  }

  principal(overrides: Partial<Principal> = {}): Principal {
    return {
      userId: this.userId,
      email: `${this.userId}@example.test`,
      displayName: 'Test',
      method: 'session',
      surface: 'session',
      scopes: [],
      superAdmin: false,
      mustChangePassword: false,
      workspace: {
        id: this.workspaceId,
        name: this.name,
        flags: { author: true, promoter: true, admin: false },
        superAdmin: false,
        implicit: false,
      },
      correlationId: newId(),
      ...overrides,
    };
  }

  /** A released pipeline; returns its id. */
  async pipeline(nodes: readonly TestNode[], body: { parameters?: object; settings?: object; draft?: boolean } = {}) {
    const id = newId();
    const status = body.draft ? 'DRAFT' : 'RELEASED';
    const stored = [];
    for (const node of nodes) {
      const { id: nodeId, type = 'DQL', source = 'tempdb', output, after = [], settings, child, parameters } = node;
      if (node.calculator) {
        stored.push({ id: nodeId, type: 'CALCULATOR', depends_on: after, settings, ...node.calculator });
        continue;
      }
      if (child !== undefined) {
        const pipeline = { name: `p/${child}`, version: 1 };
        stored.push({ id: nodeId, type: 'PIPELINE', pipeline, parameters, depends_on: after, output, settings });
        continue;
      }
      const template = await this.#template(`t/${id}/${nodeId}`, node.sql ?? 'SELECT 1', node.dialect ?? 'DUCKDB');
      stored.push({ id: nodeId, type, source, template, depends_on: after, output, settings });
    }
    const document = {
      schema_version: 1,
      name: `p/${id}`,
      display_name: 'Test',
      description: '',
      settings: body.settings,
      parameters: body.parameters ?? {},
      nodes: stored,
    };
    await this.database.execute(
      `INSERT INTO pipelines (id, workspace_id, name, display_name, owner_id, current_version)
       VALUES ($1, $2, $3, 'Test', $4, $5)`,
      [id, this.workspaceId, document.name, this.userId, body.draft ? null : 1],
    );
    await this.database.execute(
      `INSERT INTO pipeline_versions (pipeline_id, version, body_json, status, body_hash, released_at, created_by)
       VALUES ($1, 1, $2::jsonb, $3, 'x', CASE WHEN $3 = 'RELEASED' THEN NOW() END, $4)`,
      [id, writeJson(document), status, this.userId],
    );
    return id;
  }

  async #template(name: string, body: string, dialect: string): Promise<{ id: string; version: number }> {
    const id = newId();
    await this.database.execute(
      `INSERT INTO templates (id, workspace_id, name, display_name, current_version, created_by) VALUES ($1, $2, $3, 'T', 1, $4)`,
      [id, this.workspaceId, name, this.userId],
    );
    await this.database.execute(
      `INSERT INTO template_versions (template_id, version, dialect, body, body_hash, created_by) VALUES ($1, 1, $2, $3, $4, $5)`,
      [id, dialect, body, newId(), this.userId],
    );
    return { id: name, version: 1 };
  }
}

export interface InstanceParts {
  database: Database;
  store: TransientStore;
  datasources?: DatasourceAccess;
  settings?: Record<string, string>;
  logger?: Logger;
}

/** One server instance's executions, put together by hand. Several in one process share what they are given. */
export class TestInstance {
  readonly configuration: Configuration;
  readonly instance: ExecutionInstance;
  readonly launcher: Launcher;
  readonly service: ExecutionService;
  readonly batches: ExecutionBatchReading;
  readonly results: ExecutionResults;
  readonly events: ExecutionEvents;
  readonly sweep: Sweep;
  readonly retention: Retention;
  readonly drain: Drain;
  readonly purge: PurgeExecutions;
  readonly roster: InstanceRoster;
  readonly jobs: ExecutionJobs;
  readonly spillRoot: string;

  private constructor({ database, store, datasources, settings, logger = new SilentLogger() }: InstanceParts) {
    this.spillRoot = mkdtempSync(join(tmpdir(), 'executions-'));
    this.configuration = loadConfiguration({
      DATAPIPELINES_STAGING_SPILL_DIRECTORY: this.spillRoot,
      DATAPIPELINES_TEMPLATES_RENDER_ISOLATION: 'inline',
      ...settings,
    });
    const config = this.configuration;
    const metrics = new ExecutionMetrics(new Registry());
    const renderer = new TemplateRenderer(config);
    const contexts = new ContextBuilder(config);
    const access = datasources ?? NO_DATASOURCES;
    const catalog = new PipelineCatalog(database);
    const templates = new TemplateCatalog(database);
    const inserts = new ExecutionInserts(database);
    const children = new ChildLauncher(catalog, templates, inserts, config);
    this.instance = new ExecutionInstance(
      config,
      database,
      store,
      renderer,
      access,
      contexts,
      metrics,
      logger,
      children,
      NativeCallGate.fromConfiguration(config),
    );
    const repository = new ExecutionRepository(database);
    const visible = new VisibleExecutions(repository);
    const reader = new ResultReader(store);
    const rows = new DataReadyRows(reader);
    const table = new EventTable(database);
    this.launcher = new Launcher(
      catalog,
      templates,
      inserts,
      new Idempotency(store, database, config),
      new FinishedRuns(database, this.instance),
      this.instance,
    );
    this.service = new ExecutionService(repository, visible, reader, store, this.instance, config);
    this.batches = new ExecutionBatchReading(repository, reader, logger, config);
    this.results = new ExecutionResults(visible, reader, metrics, config);
    this.events = new ExecutionEvents(visible, table, rows, this.instance);
    this.sweep = new Sweep(this.instance, metrics, config);
    this.retention = new Retention(database, new AuditRepository(), config);
    this.drain = new Drain(this.instance, config);
    this.purge = new PurgeExecutions(store, this.instance, config);
    this.roster = new InstanceRoster(this.instance, store, new SystemClock());
    this.jobs = new ExecutionJobs(this.instance, this.sweep, this.retention, new SystemClock(), this.roster, config);
  }

  static async start(parts: InstanceParts): Promise<TestInstance> {
    const instance = new TestInstance(parts);
    await instance.instance.start();
    return instance;
  }

  async stop(): Promise<void> {
    await this.drain.begin({ hurry: true });
    await this.instance.stop();
    rmSync(this.spillRoot, { recursive: true, force: true });
  }

  launch(principal: Principal, pipelineId: string, request: Partial<LaunchRequest> = {}): Promise<Launched> {
    const base = {
      pipelineId,
      parameters: Object.create(null) as Record<string, never>,
      triggeredVia: 'UI',
      detached: true,
    };
    return this.launcher.launch(principal, { ...base, ...request } as LaunchRequest);
  }

  /** Waits until a node of the run has started. */
  async nodeStarts(principal: Principal, executionId: string): Promise<void> {
    const watch = await this.events.watch(principal, executionId, { after: 0, signal: AbortSignal.timeout(20_000) });
    for await (const { type } of watch.frames) if (type === 'node_started') return;
  }

  /** Every frame of an execution, from the first to the last. */
  async frames(principal: Principal, executionId: string, after = 0): Promise<EventFrame[]> {
    const watch = await this.events.watch(principal, executionId, { after, signal: AbortSignal.timeout(20_000) });
    const frames: EventFrame[] = [];
    for await (const frame of watch.frames) frames.push(frame);
    return frames;
  }
}

/** What happened to a run, by number and name; how its nodes got on in between is left out. */
export function milestones(frames: readonly EventFrame[]): string[] {
  return frames.filter(({ type }) => type !== 'node_progress').map(({ type }) => type);
}

/** Waits until no native call is inside: the engine that is kept ready may still be opening. Fails after five seconds. */
export async function idle(gate: NativeCallGate): Promise<void> {
  for (let attempt = 0; attempt < 500 && gate.running > 0; attempt++) await delay(10);
  if (gate.running > 0) throw new TypeError(`${gate.running} native calls did not return`);
}

/** For pipelines that use none. */
const NO_DATASOURCES = {
  live: () => Promise.resolve(undefined),
  poolSize: () => 1,
  connectionTimeoutMs: () => 1000,
} as unknown as DatasourceAccess;

/** A statement of the staging engine that does not end by itself. */
export const HEAVY = 'SELECT sum(a.range * b.range) AS s FROM range(10000000) a, range(100000) b';

/** A database with a workspace, and servers on it that each have a store of their own. */
export class ExecutionsBench {
  readonly #servers: TestInstance[] = [];

  private constructor(
    readonly db: TestDatabase,
    readonly workspace: TestWorkspace,
  ) {}

  static async create(): Promise<ExecutionsBench> {
    const db = await createTestDatabase();
    return new ExecutionsBench(db, await TestWorkspace.create(db.database));
  }

  async serverWith(settings: Record<string, string> = {}): Promise<TestInstance> {
    const store = new MemoryTransientStore({ maxBytes: 1 << 26 });
    const server = await TestInstance.start({ database: this.db.database, store, settings });
    this.#servers.push(server);
    return server;
  }

  async stopServers(): Promise<void> {
    await Promise.all(this.#servers.splice(0).map((server) => server.stop()));
  }

  async drop(): Promise<void> {
    await this.stopServers();
    await this.db.drop();
  }
}

/** Runs, engines, native calls and spill files an instance still holds; all empty when its runs have ended. */
export async function leftovers({ instance, spillRoot }: TestInstance): Promise<object> {
  await idle(instance.gate);
  const spilled = readdirSync(spillRoot).flatMap((folder) => readdirSync(join(spillRoot, folder)));
  return { runs: instance.runs.size, engines: instance.staging.active, spilled };
}

export const NOTHING_LEFT = { runs: 0, engines: 0, spilled: [] };

export { createTestDatabase, type TestDatabase };
