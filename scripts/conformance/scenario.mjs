import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { parse, stringify } from 'lossless-json';
import { Browser } from './browser.mjs';
import { compare } from './comparison.mjs';

const PATIENCE_MS = 30_000;

/** One scenario against one server: what its steps save is known to the later ones. */
export class Scenario {
  #values;
  #lastHeaders = new Headers();
  #browsers = new Map();

  /** @param {{key: string, person: {email?: string, password?: string}, known: Record<string, string>}} who */
  constructor(baseUrl, { key, person, known }) {
    this.baseUrl = baseUrl.replace(/\/$/, '');
    this.key = key;
    this.person = person;
    this.#values = { unique: `c${randomBytes(6).toString('hex')}`, base_url: this.baseUrl, ...known };
  }

  /** What the answer has otherwise than expected; empty: nothing. */
  async step({ within_seconds = 0, ...step }) {
    const end = Date.now() + Number(within_seconds) * 1000;
    for (;;) {
      const defects = await this.#once(step);
      if (defects.length === 0 || Date.now() > end) return defects;
      await delay(200);
    }
  }

  async #once({ request, expect, save = {} }) {
    const answer = await this.#send(request);
    const defects = [];
    if (expect.status !== undefined) compare(answer.status, this.#fill(expect.status), 'status', defects);
    for (const [name, expected] of Object.entries(expect.headers ?? {})) {
      compare(answer.headers.get(name) ?? undefined, this.#fill(expected), `header ${name}`, defects);
    }
    if (expect.text !== undefined) compare(answer.text, this.#fill(expect.text), 'body', defects);
    if (expect.body !== undefined) compare(answer.body, this.#fill(expect.body), 'body', defects);
    this.#lastHeaders = answer.headers;
    for (const [name, path] of Object.entries(save)) this.#values[name] = this.#pick(answer.body, path);
    return defects;
  }

  async #send({ method = 'GET', path, headers = {}, body, raw, as = 'key' }) {
    const sent = this.#fill(headers);
    const caller = this.#fill(as);
    if (caller === 'key') sent['DP-API-Key'] = this.key;
    if (caller.key !== undefined) sent['DP-API-Key'] = caller.key;
    const browser = await this.#browserOf(caller);
    if (body !== undefined || raw !== undefined) sent['Content-Type'] ??= 'application/json';
    const response = await fetch(this.baseUrl + this.#fill(path), {
      method,
      headers: { ...browser?.headers(), ...sent },
      body: raw === undefined ? (body === undefined ? undefined : stringify(this.#fill(body))) : this.#fill(raw),
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    browser?.keep(response);
    const text = await response.text();
    const isJson = (response.headers.get('Content-Type') ?? '').includes('json') && text !== '';
    return { status: response.status, headers: response.headers, text, body: isJson ? parse(text) : undefined };
  }

  /** One browser a person: `session` is the person of the command, `visitor` nobody yet, an object somebody else. */
  async #browserOf(caller) {
    const person = caller === 'session' ? this.person : caller;
    if (caller !== 'visitor' && person.email === undefined) return undefined;
    const known = this.#browsers.get(person.email ?? caller);
    if (known) return known;
    const browser = new Browser();
    await (caller === 'visitor' ? browser.open(this.baseUrl) : browser.signIn(this.baseUrl, person));
    this.#browsers.set(person.email ?? caller, browser);
    return browser;
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
}
