/**
 * Runs the HTTP vectors of test/conformance/http against a server: `npm run conformance -- --base-url … --key …`.
 * The vectors are data, so any implementation of the contract can be held to them. Exit code 0: all hold; 1: some do
 * not; 2: the command was not understood.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'lossless-json';
import { Scenario } from './conformance/scenario.mjs';

const VECTORS = join(import.meta.dirname, '../test/conformance/http');
const HELP = `Usage: npm run conformance -- --base-url <url> --key <api key> [options]

  --base-url <url>   server to hold to the vectors, such as http://localhost:8080
  --key <key>        a user key with the scope "author" whose owner is author and promoter of its workspace
                     (or the variable PENSTOCK_API_KEY)
  --email <address>  a super administrator who signs in with a password: for the scenarios of people and workspaces,
                     which are not run without one
  --password <text>  of the above (or the variable PENSTOCK_PASSWORD)
  --origin <origin>  one of \`cors.allowed-origins\`: for the scenario of pages of another origin that may call
  --datasource <url> JDBC URL of a PostgreSQL database the server may reach, in whose schema "public" the vectors may make
                     and drop tables of their own: for the scenarios of tables, facts and checks
  --datasource-username <name>, --datasource-password <text>
  --sends-mail       the server sends mail, so one-time passwords are not shown: their scenarios are not run
  --only <text>      only scenarios whose file or name holds this text
  --json             print the outcome as JSON
  --help             this text

The vectors make a few pipelines, templates, endpoints, datasources, keys, workspaces and people with <random> in their
names, and touch nothing else.`;

/** The steps that several scenarios begin with. */
function beginning(name) {
  return parse(readFileSync(join(VECTORS, 'beginnings', `${name}.json`), 'utf8')).steps;
}

function scenarios(only) {
  return readdirSync(VECTORS)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .flatMap((file) => {
      const { scenarios: found } = parse(readFileSync(join(VECTORS, file), 'utf8'));
      return found.map(({ begins_with = [], steps, ...scenario }) => ({
        ...scenario,
        steps: [...begins_with.flatMap(beginning), ...steps],
        file,
      }));
    })
    .filter(({ file, name }) => only === undefined || `${file} ${name}`.includes(only));
}

/** What a scenario cannot do without, and how to give it. */
const NEEDS = {
  person: ({ email, password }) => (email && password ? undefined : '--email and --password'),
  origin: ({ origin }) => (origin ? undefined : '--origin'),
  datasource: ({ datasource }) => (datasource ? undefined : '--datasource'),
  'no mail': (options) => (options['sends-mail'] ? 'a server without mail' : undefined),
};

function missing({ steps, needs = [] }, options) {
  const person = steps.some(({ request }) => request.as === 'session') ? ['person'] : [];
  const wanted = [...person, ...needs].map((need) => NEEDS[need](options)).filter((each) => each !== undefined);
  return wanted.length === 0 ? undefined : wanted.join(', ');
}

async function runScenario(scenario, baseUrl, who) {
  const run = new Scenario(baseUrl, who);
  for (const [index, step] of scenario.steps.entries()) {
    const title = `${step.request.method ?? 'GET'} ${step.request.path}`;
    try {
      const defects = await run.step(step);
      if (defects.length > 0) return { step: index + 1, title, defects };
    } catch (error) {
      return { step: index + 1, title, defects: [error.cause?.message ?? error.message] };
    }
  }
  return undefined;
}

function arguments_() {
  try {
    const { values } = parseArgs({
      options: {
        'base-url': { type: 'string' },
        key: { type: 'string', default: process.env['PENSTOCK_API_KEY'] },
        email: { type: 'string' },
        password: { type: 'string', default: process.env['PENSTOCK_PASSWORD'] },
        origin: { type: 'string' },
        datasource: { type: 'string' },
        'datasource-username': { type: 'string', default: '' },
        'datasource-password': { type: 'string', default: '' },
        'sends-mail': { type: 'boolean', default: false },
        only: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    console.error(`${error.message}\n\n${HELP}`);
    process.exit(2);
  }
}

const given = arguments_();
if (given.help) {
  console.log(HELP);
  process.exit(0);
}
if (!given['base-url'] || !given.key) {
  console.error(`--base-url and --key are needed.\n\n${HELP}`);
  process.exit(2);
}
const who = {
  key: given.key,
  person: { email: given.email, password: given.password },
  known: {
    origin: given.origin,
    password: given.password,
    jdbc_url: given.datasource,
    jdbc_username: given['datasource-username'],
    jdbc_password: given['datasource-password'],
    email: given.email,
  },
};
const outcomes = [];
let notRun = 0;
for (const scenario of scenarios(given.only)) {
  const lacks = missing(scenario, given);
  if (lacks !== undefined) {
    notRun += 1;
    if (!given.json) console.log(`not run ${scenario.file}: ${scenario.name} (needs ${lacks})`);
    continue;
  }
  const failure = await runScenario(scenario, given['base-url'], who);
  outcomes.push({
    file: scenario.file,
    name: scenario.name,
    steps: scenario.steps.length,
    ...(failure ? { failure } : {}),
  });
  if (given.json) continue;
  console.log(`${failure ? 'FAILED' : 'ok    '} ${scenario.file}: ${scenario.name}`);
  if (failure) {
    console.log(`       step ${failure.step}, ${failure.title}`);
    for (const defect of failure.defects) console.log(`       ${defect}`);
  }
}
const failed = outcomes.filter(({ failure }) => failure).length;
if (given.json) console.log(JSON.stringify({ scenarios: outcomes.length, failed, not_run: notRun, outcomes }, null, 2));
else console.log(`\n${outcomes.length - failed} of ${outcomes.length} scenarios hold, ${notRun} were not run.`);
process.exit(failed === 0 && outcomes.length > 0 ? 0 : 1);
