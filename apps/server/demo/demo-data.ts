import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import pg from 'pg';

/** Three engines with real data: airports in Postgres, daily weather in SQLite, three million flights in DuckDB. */
export interface DemoData {
  airports: { jdbcUrl: string; username: string; password: string };
  weatherFile: string;
  flightsFile: string;
}

const DATABASE = 'demo_airports';
const READER = 'demo_reader';

/**
 * Builds the demo's databases below `directory` from the npm package `vega-datasets`, once; a later start finds them.
 * Every part is built beside its place and moved there, so a kill half-way leaves no half database.
 */
export async function prepareDemoData(directory: string, superuserUrl: string): Promise<DemoData> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // The package names only its module; the files lie beside the folder of that.
  const data = join(dirname(fileURLToPath(import.meta.resolve('vega-datasets'))), '..', 'data');
  const source = (name: string): string => join(data, name).replaceAll("'", "''");
  const weatherFile = join(directory, 'weather.sqlite');
  const flightsFile = join(directory, 'flights.duckdb');

  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await buildOnce(flightsFile, (file) => loadFlights(connection, source('flights-3m.parquet'), file));
    await buildOnce(weatherFile, (file) => loadWeather(connection, source('weather.csv'), file));
    const password = await readerPassword(join(directory, 'reader-password'));
    await loadAirports(connection, source('airports.csv'), superuserUrl, password);
    const server = new URL(superuserUrl);
    return {
      airports: { jdbcUrl: `jdbc:postgresql://${server.host}/${DATABASE}`, username: READER, password },
      weatherFile,
      flightsFile,
    };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

async function buildOnce(file: string, build: (unfinished: string) => Promise<void>): Promise<void> {
  if (existsSync(file)) return;
  const unfinished = `${file}.unfinished`;
  // The journal of a build that was killed would be replayed into the new file.
  for (const rest of ['', '.wal', '-journal']) await rm(unfinished + rest, { force: true });
  await build(unfinished);
  await rename(unfinished, file);
}

async function loadFlights(connection: DuckDBConnection, parquet: string, file: string): Promise<void> {
  await connection.run(`ATTACH '${file.replaceAll("'", "''")}' AS flights_db`);
  await connection.run(
    `CREATE TABLE flights_db.flights AS
     SELECT date AS departed_at, CAST(delay AS INTEGER) AS delay_minutes, CAST(distance AS INTEGER) AS distance_miles,
            origin, destination
       FROM read_parquet('${parquet}')`,
  );
  await connection.run('DETACH flights_db');
}

async function loadWeather(connection: DuckDBConnection, csv: string, file: string): Promise<void> {
  const rows = await readRows(
    connection,
    `SELECT location, CAST(date AS VARCHAR), precipitation, temp_max, temp_min, wind, weather FROM read_csv('${csv}')`,
  );
  const database = new DatabaseSync(file);
  try {
    database.exec(`CREATE TABLE weather (
      city TEXT NOT NULL, day TEXT NOT NULL, precipitation_mm REAL NOT NULL, temp_max_c REAL NOT NULL,
      temp_min_c REAL NOT NULL, wind_ms REAL NOT NULL, summary TEXT NOT NULL, PRIMARY KEY (city, day))`);
    const insert = database.prepare('INSERT INTO weather VALUES (?, ?, ?, ?, ?, ?, ?)');
    database.exec('BEGIN');
    for (const row of rows) insert.run(...(row as (string | number)[]));
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}

async function loadAirports(
  connection: DuckDBConnection,
  csv: string,
  superuserUrl: string,
  password: string,
): Promise<void> {
  await withClient(superuserUrl, async (client) => {
    const { rowCount: roles } = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [READER]);
    // Identifiers and the password are ours: no quoting of foreign text happens here.
    await client.query(`${roles ? 'ALTER' : 'CREATE'} ROLE ${READER} LOGIN PASSWORD '${password}'`);
    const { rowCount: databases } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (!databases) await client.query(`CREATE DATABASE ${DATABASE}`);
  });
  const url = new URL(superuserUrl);
  url.pathname = `/${DATABASE}`;
  await withClient(url.href, async (client) => {
    const { rows: found } = await client.query<{ present: boolean }>(
      "SELECT to_regclass('airports') IS NOT NULL AS present",
    );
    if (found[0]?.present) return;
    const rows = await readRows(
      connection,
      `SELECT iata, name, city, state, latitude, longitude FROM read_csv('${csv}')`,
    );
    await client.query('BEGIN');
    await client.query(`CREATE TABLE airports (
      iata TEXT PRIMARY KEY, name TEXT NOT NULL, city TEXT, state TEXT,
      latitude NUMERIC(11, 8) NOT NULL, longitude NUMERIC(12, 8) NOT NULL)`);
    await client.query("COMMENT ON TABLE airports IS 'Airports of the United States'");
    await client.query(
      `INSERT INTO airports
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::numeric[], $6::numeric[])`,
      [0, 1, 2, 3, 4, 5].map((column) => rows.map((row) => row[column])),
    );
    await client.query(`GRANT SELECT ON airports TO ${READER}`);
    await client.query('COMMIT');
  });
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // a broken connection also rejects the statement in flight
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function readRows(connection: DuckDBConnection, sql: string): Promise<unknown[][]> {
  const reader = await connection.runAndReadAll(sql);
  return reader.getRowsJson() as unknown[][];
}

async function readerPassword(file: string): Promise<string> {
  if (!existsSync(file)) {
    await writeFile(file, randomBytes(24).toString('hex'), { mode: 0o600 });
    await chmod(file, 0o600);
  }
  return readFile(file, 'utf8');
}
