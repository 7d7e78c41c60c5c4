import { beforeEach } from '@jest/globals';

import { AuditLog } from '#libs/audit';
import { newId, readJson, SilentLogger, type Configuration, type JsonObject, type Logger } from '#libs/kernel';
import type { Database } from '#libs/persistence';

import { eventually } from '../../test/fixtures/eventually.js';
import type { DatasourceBench } from '../datasources/datasources.fixture.js';
import { engineScene } from '../datasources/engines.fixture.js';
import { FactListing } from './fact-listing.js';
import { FactStanding } from './fact-standing.js';
import { FactRepository } from './fact.repository.js';
import { AnnotatedCatalog } from './inline/annotated-catalog.js';
import { InlineFactRepository } from './inline/inline-fact.repository.js';
import { DriftMarks } from './inline/drift-marks.js';
import { Evidence } from './recording/evidence.js';
import { FactRecording } from './recording/fact-recording.js';
import { LiveRefs } from './recording/live-refs.js';
import { SemanticsService } from './semantics.service.js';

export { ENGINES } from '../datasources/engines.fixture.js';
export { refusal } from '../datasources/datasource-scene.fixture.js';

/** One process's facts, wired by hand over its datasources. */
export class SemanticsBench {
  readonly service: SemanticsService;
  readonly listing: FactListing;
  readonly catalog: AnnotatedCatalog;
  readonly marks: DriftMarks;

  constructor(
    bench: DatasourceBench,
    db: Database,
    logger: Logger = new SilentLogger(),
    configuration: Configuration = bench.config,
  ) {
    const facts = new FactRepository();
    const audit = new AuditLog();
    const liveRefs = new LiveRefs(bench.catalogs);
    this.listing = new FactListing(db, facts, bench.access);
    this.service = new SemanticsService(
      new FactRecording(db, facts, bench.access, liveRefs, new Evidence(bench.reads), audit, configuration),
      new FactStanding(db, facts, bench.access, liveRefs, audit),
      this.listing,
    );
    this.marks = new DriftMarks(db, facts, bench.access, bench.catalogs, logger);
    this.catalog = new AnnotatedCatalog(db, bench.service, bench.introspection, new InlineFactRepository(), this.marks);
  }
}

/** A body as a door reads it. */
export function factBody(more: Record<string, unknown> = {}): JsonObject {
  const whole = {
    scope: 'DATASOURCE',
    kind: 'unit',
    fact: 'total_cents holds cents of euro',
    refs: [{ table: 'orders', column: 'total_cents' }],
    ...more,
  };
  return readJson(JSON.stringify(whole)) as JsonObject;
}

/** The scene of three engines, with facts on top. Call once per spec. */
export function semanticsScene() {
  const scene = engineScene() as ReturnType<typeof engineScene> & {
    semantics: SemanticsBench;
    /** Rows of `learned_facts` there are, whoever sees them. */
    stored(): Promise<number>;
    audited(): Promise<{ event: string; details: Record<string, unknown> }[]>;
    /** Resolves once a statement in the metadata database waits for another's lock. */
    untilBlocked(): Promise<void>;
    /** A pipeline of a workspace, with one version. */
    pipelineOf(workspaceId: string, name: string): Promise<string>;
  };
  beforeEach(() => {
    const { database } = scene.db;
    scene.semantics = new SemanticsBench(scene.bench, database);
    scene.stored = async () =>
      Number((await database.query<{ n: number }>('SELECT count(*)::int AS n FROM learned_facts'))[0]?.n);
    scene.audited = async () => {
      const rows = await database.query<{ event: string; details_json: string }>(
        `SELECT event, details_json FROM audit_log WHERE event LIKE 'semantics.%' ORDER BY timestamp, id`,
      );
      return rows.map(({ event, details_json }) => ({
        event,
        details: JSON.parse(details_json) as Record<string, unknown>,
      }));
    };
    scene.untilBlocked = async () => {
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await eventually('a statement waits for a lock', async () => (await database.query(waiting)).length > 0);
    };
    scene.pipelineOf = async (workspaceId, name) => {
      const id = newId();
      const owner = scene.team.author.userId;
      await database.execute(
        `INSERT INTO pipelines (id, workspace_id, name, display_name, description, owner_id) VALUES ($1, $2, $3, $3, '', $4)`,
        [id, workspaceId, name, owner],
      );
      return id;
    };
  });
  return scene;
}
