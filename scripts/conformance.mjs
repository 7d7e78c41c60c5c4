/**
 * Runs the HTTP vectors of test/conformance/http against a server: `npm run conformance -- --base-url … --key …`.
 * The vectors are data, so any implementation of the contract can be held to them. Exit code 0: all hold; 1: some do
 * not; 2: the command was not understood.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse, stringify } from 'lossless-json';

const VECTORS = join(import.meta.dirname, '../test/conformance/http');
const HELP = `Usage: npm run conformance -- --base-url <url> --key <api key> [options]

  --base-url <url>   server to hold to the vectors, such as http://localhost:8080
  --key <key>        a user key with the scope "author" whose owner is author and promoter of its workspace
                     (or the variable PENSTOCK_API_KEY)
  --email <address>  a super administrator who signs in with a password: for the scenarios of people and workspaces,
                     which are not run without one
  --password <text>  of the above (or the variable PENSTOCK_PASSWORD)
  --only <text>      only scenarios whose file or name holds this text
  --json             print the outcome as JSON
  --help             this text

The vectors make a few pipelines, templates, endpoints, datasources, keys, workspaces and people with <random> in their
names, and touch nothing else.`;

/** Words that stand for a kind of value in an expectation. */
const KINDS = {
  $uuid: (value) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(value)),
  $moment: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value)),
  $hash: (value) => /^[0-9a-f]{64}$/.test(String(value)),
  $text: (value) => typeof value === 'string' && value !== '',
  $number: (value) => typeof value === 'number' || value?.isLosslessNumber === true,
  $object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  $any: (value) => value !== undefined,
  $absent: (value) => value === undefined,
};

/** A browser that is signed in: its cookies, and the token that comes with each unsafe request. */
class Browser {
  #cookies = new Map();

  async signIn(baseUrl, { email, password }) {
    this.keep(await fetch(`${baseUrl}/login`, { redirect: 'manual', signal: AbortSignal.timeout(30_000) }));
    const headers = { ...this.headers(), 'Content-Type': 'application/json', Accept: 'application/json' };
    const body = stringify({ email, password });
    const answer = await fetch(`${baseUrl}/login`, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(30_000),
    });
    if (answer.status !== 200) throw new TypeError(`POST /login answered ${answer.status} to --email and --password`);
    this.keep(answer);
  }

  keep(answer) {
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name) this.#cookies.set(name, value);
    }
  }

  headers() {
    const token = this.#cookies.get('__Host-dp_csrf') ?? this.#cookies.get('dp_csrf');
    return {
      Cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...(token ? { 'DP-CSRF-Token': decodeURIComponent(token) } : {}),
    };
  }
}

class Scenario {
  #values;
  #lastHeaders = new Headers();
  #browser;

  constructor(baseUrl, { key, email, password }) {
    this.baseUrl = baseUrl.replace(/\/$/, '');
    this.key = key;
    this.person = { email, password };
    this.#values = { unique: `c${randomBytes(6).toString('hex')}`, base_url: this.baseUrl };
  }

  /** What the answer has otherwise than expected; empty: nothing. */
  async step({ request, expect, save = {} }) {
    const answer = await this.#send(request);
    const defects = [];
    if (expect.status !== undefined) this.#compare(answer.status, expect.status, 'status', defects);
    for (const [name, expected] of Object.entries(expect.headers ?? {})) {
      this.#compare(answer.headers.get(name) ?? undefined, expected, `header ${name}`, defects);
    }
    if (expect.text !== undefined) this.#compare(answer.text, expect.text, 'body', defects);
    if (expect.body !== undefined) this.#compare(answer.body, expect.body, 'body', defects);
    this.#lastHeaders = answer.headers;
    for (const [name, path] of Object.entries(save)) this.#values[name] = this.#pick(answer.body, path);
    return defects;
  }

  async #send({ method = 'GET', path, headers = {}, body, raw, as = 'key' }) {
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, this.#fill(value)]));
    if (as === 'key') sent['DP-API-Key'] = this.key;
    const browser = as === 'session' ? await this.#signedIn() : undefined;
    if (body !== undefined || raw !== undefined) sent['Content-Type'] ??= 'application/json';
    const response = await fetch(this.baseUrl + this.#fill(path), {
      method,
      headers: { ...browser?.headers(), ...sent },
      body: raw === undefined ? (body === undefined ? undefined : stringify(this.#fill(body))) : this.#fill(raw),
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
    });
    browser?.keep(response);
    const text = await response.text();
    const isJson = (response.headers.get('Content-Type') ?? '').includes('json') && text !== '';
    return { status: response.status, headers: response.headers, text, body: isJson ? parse(text) : undefined };
  }

  async #signedIn() {
    if (this.#browser) return this.#browser;
    this.#browser = new Browser();
    await this.#browser.signIn(this.baseUrl, this.person);
    return this.#browser;
  }

  /** `\${name}` becomes what an earlier step saved; a text that is one variable alone keeps its type. */
  #fill(value) {
    if (typeof value === 'string') {
      const alone = /^\$\{(\w+)\}$/.exec(value)?.[1];
      if (alone !== undefined) return this.#value(alone);
      return value.replace(/\$\{(\w+)\}/g, (_all, name) => String(this.#value(name)));
    }
    if (Array.isArray(value)) return value.map((each) => this.#fill(each));
    if (typeof value !== 'object' || value === null || value.isLosslessNumber) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.#fill(each)]));
  }

  #value(name) {
    if (this.#values[name] === undefined) throw new TypeError(`no earlier step saved "${name}"`);
    return this.#values[name];
  }

  /** A dotted path into the body; `header:Name` is a header of the answer. */
  #pick(body, path) {
    if (path.startsWith('header:')) return this.#lastHeaders.get(path.slice(7)) ?? undefined;
    return path.split('.').reduce((at, key) => at?.[key], body);
  }

  /** Objects are compared by the members named; arrays, texts and numbers wholly, numbers by their digits. */
  #compare(found, expected, path, defects) {
    const wanted = this.#fill(expected);
    const kind = typeof wanted === 'string' ? KINDS[wanted] : undefined;
    const pattern = typeof wanted === 'string' && wanted.startsWith('$matches:') ? wanted.slice(9) : undefined;
    if (kind || pattern !== undefined) {
      const holds = kind ? kind(found) : new RegExp(pattern, 's').test(String(found));
      if (!holds) defects.push(`${path}: expected ${wanted}, found ${shown(found)}`);
      return;
    }
    const isObject = typeof wanted === 'object' && wanted !== null && !wanted.isLosslessNumber;
    if (!isObject) {
      if (digits(found) !== digits(wanted)) defects.push(`${path}: expected ${shown(wanted)}, found ${shown(found)}`);
      return;
    }
    if (Array.isArray(wanted) && (!Array.isArray(found) || found.length !== wanted.length)) {
      defects.push(`${path}: expected a list of ${wanted.length}, found ${shown(found)}`);
      return;
    }
    for (const [name, each] of Object.entries(wanted)) this.#compare(found?.[name], each, `${path}.${name}`, defects);
  }
}

const digits = (value) => (typeof value === 'string' ? `"${value}"` : String(value));
const shown = (value) => (value === undefined ? 'nothing' : (stringify(value) ?? 'nothing').slice(0, 300));

function scenarios(only) {
  return readdirSync(VECTORS)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .flatMap((file) => {
      const { scenarios: found } = parse(readFileSync(join(VECTORS, file), 'utf8'));
      return found.map((scenario) => ({ ...scenario, file }));
    })
    .filter(({ file, name }) => only === undefined || `${file} ${name}`.includes(only));
}

const needsPerson = ({ steps }) => steps.some(({ request }) => request.as === 'session');

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
const outcomes = [];
let notRun = 0;
for (const scenario of scenarios(given.only)) {
  if (needsPerson(scenario) && !(given.email && given.password)) {
    notRun += 1;
    if (!given.json) console.log(`not run ${scenario.file}: ${scenario.name} (needs --email and --password)`);
    continue;
  }
  const failure = await runScenario(scenario, given['base-url'], given);
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
