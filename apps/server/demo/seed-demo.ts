import { join } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { DatasourceService } from '#libs/datasources';
import { EndpointService } from '#libs/endpoints';
import { SystemActor } from '#libs/identity';
import { newId, PenstockError, readJson, writeJson, type JsonObject, type Logger, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { PipelineAuthoring, PipelineCatalog, PipelineLifecycle } from '#libs/pipelines';
import { TemplateAuthoring, TemplateLifecycle, TemplateReading } from '#libs/templates';
import { ensureDemoWorkspace } from '#libs/workspaces';
import { DEMO_WORKSPACE_ID } from '#libs/identity';
import type { EmbeddedStores } from '../boot/embedded.js';
import { DATASOURCES, ENDPOINT_PATH, PIPELINE, PIPELINE_NAME, TEMPLATES } from './demo-content.js';
import { prepareDemoData, type DemoData } from './demo-data.js';

/**
 * Makes the demo workspace and its content through the services any client uses. Every step looks first, so a start
 * after a kill continues where the last one ended, and a later start changes nothing.
 */
export async function seedDemo(
  app: INestApplicationContext,
  embedded: EmbeddedStores | undefined,
  log: Logger,
): Promise<void> {
  if (!embedded) {
    log.warn('The demo brings its own databases and needs the embedded mode; unset DATABASE_URL to have it.');
    return;
  }
  const { active } = await ensureDemoWorkspace(app.get(Database));
  if (!active) return;
  const data = await prepareDemoData(join(embedded.directory, 'demo'), embedded.postgres.superuserUrl);
  const seeder = await demoSeeder(app);
  await seedDatasources(app, seeder, data);
  await seedTemplates(app, seeder);
  const pipelineId = await seedPipeline(app, seeder);
  await seedEndpoint(app, seeder, pipelineId);
}

/** The server itself, with every right in the demo workspace. */
async function demoSeeder(app: INestApplicationContext): Promise<Principal> {
  const principal = await app.get(SystemActor).principal(newId(), {
    id: DEMO_WORKSPACE_ID,
    name: 'demo',
    flags: { author: true, promoter: true, admin: true },
    superAdmin: true,
    implicit: false,
  });
  return { ...principal, superAdmin: true };
}

async function seedDatasources(app: INestApplicationContext, seeder: Principal, data: DemoData): Promise<void> {
  const datasources = app.get(DatasourceService);
  const none = { kind: 'none' };
  const wanted: JsonObject[] = [
    {
      name: DATASOURCES.airports,
      display_name: 'US airports',
      dialect: 'POSTGRES',
      jdbc_url: data.airports.jdbcUrl,
      credential: { kind: 'password', username: data.airports.username, secret: data.airports.password },
      readonly: true,
    },
    {
      name: DATASOURCES.weather,
      display_name: 'Daily weather 2012–2015, Seattle and New York',
      dialect: 'SQLITE',
      jdbc_url: `jdbc:sqlite:${data.weatherFile}`,
      credential: none,
      readonly: true,
    },
    {
      name: DATASOURCES.flights,
      display_name: 'Three million US flights, first half of 2001',
      dialect: 'DUCKDB',
      jdbc_url: `jdbc:duckdb:${data.flightsFile}`,
      credential: none,
      readonly: true,
    },
  ];
  for (const body of wanted) {
    const present = await found(() => datasources.read(seeder, body['name'] as string), 'datasource.not_found');
    // The embedded server's port may be another one at each start.
    if (!present) await datasources.create(seeder, body);
    else if (present.jdbc_url !== body['jdbc_url']) await datasources.update(seeder, present.name, body);
  }
}

async function seedTemplates(app: INestApplicationContext, seeder: Principal): Promise<void> {
  const reading = app.get(TemplateReading);
  for (const template of TEMPLATES) {
    let view = await found(() => reading.read(seeder, template.id), 'template.not_found');
    view ??= await app.get(TemplateAuthoring).create(seeder, exact(template));
    if (view.status === 'DRAFT') await app.get(TemplateLifecycle).release(seeder, template.id, view.body_hash);
  }
}

async function seedPipeline(app: INestApplicationContext, seeder: Principal): Promise<string> {
  const catalog = app.get(PipelineCatalog);
  const known = await catalog.idOf(DEMO_WORKSPACE_ID, PIPELINE_NAME);
  const id = known ?? (await app.get(PipelineAuthoring).create(seeder, exact(PIPELINE))).id;
  const working = await catalog.forRun(DEMO_WORKSPACE_ID, id);
  if (working?.status === 'DRAFT' && working.version === 1) {
    await app.get(PipelineLifecycle).release(seeder, id, working.bodyHash, {});
  }
  return id;
}

async function seedEndpoint(app: INestApplicationContext, seeder: Principal, pipelineId: string): Promise<void> {
  const endpoints = app.get(EndpointService);
  if (await found(() => endpoints.read(seeder, ENDPOINT_PATH), 'endpoint.not_found')) return;
  await endpoints.publish(seeder, {
    path: ENDPOINT_PATH,
    pipeline: pipelineId,
    description: 'Delays of one city by month, beside its usual weather.',
  });
}

async function found<T>(read: () => Promise<T>, absent: PenstockError['code']): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PenstockError && error.code === absent) return undefined;
    throw error;
  }
}

/** As a body that came over the wire: numbers as exact tokens. */
function exact(value: object): JsonObject {
  return readJson(writeJson(value)) as JsonObject;
}
