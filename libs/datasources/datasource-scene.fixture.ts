import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import type { JsonObject, PenstockError } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';

import {
  createEmptyDatabase,
  createTestDatabase,
  type EmptyDatabase,
  type TestDatabase,
} from '../../test/fixtures/postgres.js';
import { DatasourceBench, People } from './datasources.fixture.js';
import { loginOf } from './drivers/postgres/postgres.fixture.js';

/** A secret that must never be met anywhere but in its envelope. */
export const SECRET = 'planted-Secr3t-ü';

export interface Refusal {
  code: string;
  message: string;
  /** `last word of the code` and path of each defect. */
  failures: string[];
  details: Record<string, unknown>;
}

/** What a refused act said. */
export async function refusal(work: Promise<unknown>): Promise<Refusal> {
  const error = await work.then(
    () => new TypeError('nothing was refused'),
    (reason: unknown) => reason,
  );
  const { code, details, message } = error as PenstockError;
  if (!details) throw error;
  const failures = (details['failures'] ?? []) as { code: string; path: string }[];
  return {
    code,
    message,
    details,
    failures: failures.map((failure) => `${failure.code.split('.').at(-1)} ${failure.path}`),
  };
}

/** A migrated database, one process, two workspaces, a folder of files and a PostgreSQL to register. Call once per spec. */
export function datasourceScene() {
  let target: EmptyDatabase;
  const scene = {} as {
    db: TestDatabase;
    store: MemoryTransientStore;
    bench: DatasourceBench;
    team: People;
    others: People;
    /** The one file root; holds `data.db`. */
    folder: string;
    targetUrl: string;
    body(more?: JsonObject): JsonObject;
  };

  beforeAll(async () => {
    target = await createEmptyDatabase();
    scene.targetUrl = target.url;
    scene.folder = mkdtempSync(join(tmpdir(), 'penstock-files-'));
    new DatabaseSync(join(scene.folder, 'data.db')).close();
  });

  beforeEach(async () => {
    scene.db = await createTestDatabase();
    scene.store = new MemoryTransientStore({ maxBytes: 1_000_000 });
    scene.bench = await DatasourceBench.start(scene.db, scene.store, {
      DATAPIPELINES_DATASOURCES_FILE_ROOTS: scene.folder,
    });
    scene.team = await People.of(scene.db, 'team');
    scene.others = await People.of(scene.db, 'others');
  });

  afterEach(async () => {
    await scene.bench.stop();
    await scene.db.drop();
  });

  afterAll(async () => {
    await target.drop();
    rmSync(scene.folder, { recursive: true });
  });

  scene.body = (more = {}) => {
    const { host, port, database } = loginOf(target.url);
    return {
      name: 'pg-prod',
      display_name: 'Production',
      dialect: 'POSTGRES',
      jdbc_url: `jdbc:postgresql://${host}:${port}/${database}`,
      credential: { kind: 'password', username: 'bob', secret: SECRET },
      ...more,
    };
  };
  return scene;
}
