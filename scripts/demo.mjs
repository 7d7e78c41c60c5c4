/**
 * The main job, end to end, on real data: `npm run demo` (keeps serving) or `npm run demo -- --once` (exits 0).
 * Starts the embedded server with the demo workspace and then acts as any client would, over HTTP.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { parse } from 'lossless-json';
import { buildAll } from './build.mjs';
import { demoCredentials } from './demo/credentials.mjs';
import { readEvents } from './demo/events.mjs';
import { bold, green, quiet, table } from './demo/print.mjs';

const HELP = `npm run demo [-- options]

Shows datasource → template → pipeline → release → run → watch → read → call, and keeps serving.

  --once            exit after printing
  --city NAME       Seattle (default) or "New York"
  --directory DIR   where the demo keeps its databases and secrets (default .penstock)
  --help            this text

SERVER_PORT and MANAGEMENT_SERVER_PORT choose the ports; a busy default gives way to the next free one.`;

const options = readOptions(process.argv.slice(2));
const root = join(import.meta.dirname, '..');
const started = Date.now();
buildAll();

const directory = resolve(root, options.directory);
mkdirSync(directory, { recursive: true, mode: 0o711 });
mkdirSync(join(directory, 'demo'), { recursive: true, mode: 0o700 });
const logFile = join(directory, 'demo', 'server.log');
const port = await portFor('SERVER_PORT', 8080);
const managementPort = await portFor('MANAGEMENT_SERVER_PORT', 9090);
const base = `http://127.0.0.1:${port}`;

const log = openSync(logFile, 'a', 0o600);
const earlier = statSync(logFile).size;
const server = spawn(process.execPath, ['--max-semi-space-size=16', join(root, 'dist/apps/server/main.js')], {
  cwd: root,
  stdio: ['ignore', log, log],
  env: {
    ...process.env,
    SERVER_PORT: port,
    MANAGEMENT_SERVER_PORT: managementPort,
    DATAPIPELINES_DEMO: 'true',
    DATAPIPELINES_EMBEDDED_DIRECTORY: directory,
  },
});
let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    stopping = true;
    server.kill('SIGTERM');
  });
}
server.on('exit', (code) => {
  if (stopping) process.exit(code ?? 1);
  const said = readFileSync(logFile, 'utf8')
    .slice(earlier)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('{'));
  fail(`${said.at(-1) ?? `The server ended with code ${code}.`}\nIts log: ${logFile}`);
});

try {
  await show();
} catch (error) {
  fail(error.message);
}

/** The walk from a datasource to a URL, printed as it happens. */
async function show() {
  await untilReady();
  console.log(`${green('Ready')} in ${((Date.now() - started) / 1000).toFixed(1)} s at ${base}\n`);
  const credentials = await demoCredentials(base, directory);
  const get = async (path) => (await api('GET', path, credentials)).data;

  const datasources = await get('/api/v1/datasources');
  heading('1', 'Datasources: three engines, registered once, credentials sealed');
  console.log(
    table(datasources.items.map(({ name, dialect, display_name }) => ({ name, dialect, what: display_name }))),
  );

  const template = await get('/api/v1/templates?name=travel/delays/flights.sql');
  heading('2', `Template ${template.id}: SQL in FreeMarker, caller values always bound`);
  console.log(quiet(template.body.trimEnd()));

  const [{ id: pipelineId }] = (await get('/api/v1/pipelines?q=travel/delays/by_month')).items;
  const pipeline = await get(`/api/v1/pipelines/${pipelineId}`);
  heading('3', `Pipeline ${pipeline.name}: a DAG of SQL nodes`);
  console.log(
    table(
      pipeline.nodes.map(({ id, source, depends_on, output }) => ({
        node: id,
        source,
        after: (depends_on ?? []).join(', '),
        output: output.table ?? output.target,
      })),
    ),
  );

  heading('4', `Released: version ${pipeline.version} ${pipeline.status}, hash ${pipeline.body_hash.slice(0, 12)}…`);

  heading('5', 'Run and watch: every event once, in order');
  const ready = await runPipeline(pipelineId, credentials);

  heading('6', `Rows: ${ready.total_rows} through the result cursor, exact and typed`);
  const result = await get(`/api/v1/executions/${ready.execution_id}/result?limit=12`);
  console.log(
    table(result.rows.map((row) => Object.fromEntries(result.schema.map(({ name }, index) => [name, row[index]])))),
  );
  console.log(quiet(`columns: ${result.schema.map(({ name, type }) => `${name} ${type}`).join(', ')}`));

  const url = `${base}/api/x/travel/delays/${encodeURIComponent(options.city)}?from_day=2001-03-01&min_flights=50`;
  const callStarted = performance.now();
  const response = await fetch(url, { headers: { 'DP-API-Key': credentials.endpointKey } });
  const answer = await response.json();
  if (!response.ok) fail(`The endpoint answered ${response.status}: ${JSON.stringify(answer)}`);
  heading(
    '7',
    `Published: GET ${new URL(url).pathname} answered ${response.status} with ${answer.row_count} rows in ${Math.round(performance.now() - callStarted)} ms`,
  );
  console.log(`curl -s -H 'DP-API-Key: ${credentials.endpointKey}' '${url}'\n`);

  console.log(`Console   ${base}/`);
  console.log(`GraphQL   ${base}/graphql`);
  console.log(`Sign in   ${credentials.email}  ${credentials.password}`);
  console.log(`API key   ${credentials.userKey}   ${quiet('(workspace demo; header DP-API-Key)')}`);

  if (options.once) {
    console.log(quiet('\nStopping, as --once asks: the addresses above answer while `npm run demo` serves.'));
    stopping = true;
    server.kill('SIGTERM');
  } else {
    console.log(quiet(`\nServing as process ${server.pid}. Log: ${logFile}. Ctrl-C stops, or: kill ${process.pid}`));
  }
}

async function runPipeline(id, credentials) {
  const response = await fetch(`${base}/api/v1/pipelines/${id}/execute`, {
    method: 'POST',
    headers: { 'DP-API-Key': credentials.userKey, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({ parameters: { city: options.city } }),
  });
  if (!response.ok) fail(`The run was refused with ${response.status}: ${await response.text()}`);
  const runStarted = performance.now();
  for await (const { id: number, event, data } of readEvents(response.body)) {
    const time = `${((performance.now() - runStarted) / 1000).toFixed(3)} s`.padStart(9);
    console.log(`${quiet(time)}  ${String(number).padStart(2)}  ${event.padEnd(18)} ${eventText(event, data)}`);
    if (event === 'pipeline_failed' || event === 'execution_aborted') fail(JSON.stringify(data, null, 2));
    if (event === 'data_ready') return data;
  }
  return fail('The stream ended before the data was ready.');
}

function eventText(event, data) {
  switch (event) {
    case 'execution_started':
      return `version ${data.pipeline_version} ${JSON.stringify(data.parameters)}`;
    case 'node_started':
      return data.node_id;
    case 'node_completed':
      return `${data.node_id}: ${data.rows_out} rows in ${data.duration_ms} ms`;
    case 'pipeline_completed':
      return `${data.status} in ${data.duration_ms} ms`;
    case 'data_ready':
      return `${data.total_rows} rows, kept ${data.ttl_seconds} s`;
    default:
      return data.node_id ?? '';
  }
}

async function api(method, path, credentials) {
  const response = await fetch(`${base}${path}`, { method, headers: { 'DP-API-Key': credentials.userKey } });
  // Exact: a DECIMAL keeps its zeros, a BIGINT its last digit.
  const body = parse(await response.text());
  if (!response.ok) fail(`${method} ${path} answered ${response.status}: ${body.error?.message ?? ''}`);
  return body;
}

async function untilReady() {
  for (;;) {
    try {
      if ((await fetch(`${base}/ready`)).ok) return;
    } catch {
      // Nothing listens yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

function heading(number, text) {
  console.log(`\n${bold(`${number}  ${text}`)}`);
}

function fail(message) {
  console.error(message);
  stopping = true;
  server.kill('SIGTERM');
  process.exit(1);
}

/** The chosen port, which must be free, or the first free one from the default on. */
async function portFor(variable, fallback) {
  const chosen = process.env[variable];
  if (chosen === undefined) return String(await freePort(fallback));
  if (chosen !== '0' && (await freePort(Number(chosen))) !== Number(chosen)) {
    console.error(`Port ${chosen} is in use. Stop what listens there, or choose another with ${variable}.`);
    process.exit(1);
  }
  return chosen;
}

/** The wanted port if nothing listens there, else the next free one. */
async function freePort(wanted) {
  for (let candidate = wanted; candidate < wanted + 200; candidate++) {
    const probe = createServer();
    const free = await new Promise((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(candidate, '127.0.0.1', () => resolve(true));
    });
    if (free) {
      await new Promise((resolve) => probe.close(resolve));
      return candidate;
    }
  }
  throw new Error(`No free port from ${wanted} on.`);
}

function readOptions(args) {
  const read = { once: false, city: 'Seattle', directory: '.penstock' };
  for (let index = 0; index < args.length; index++) {
    const name = args[index];
    if (name === '--help' || name === '-h') {
      console.log(HELP);
      process.exit(0);
    } else if (name === '--once') read.once = true;
    else if ((name === '--city' || name === '--directory') && args[index + 1]) read[name.slice(2)] = args[++index];
    else {
      console.error(`Unknown option ${name}.\n\n${HELP}`);
      process.exit(2);
    }
  }
  return read;
}
