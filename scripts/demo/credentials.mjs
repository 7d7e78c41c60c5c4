/**
 * The demo's sign-in and keys, made once over HTTP as a person would make them and kept beside the demo's databases
 * (readable by this user alone). A stored key that no longer works is made anew.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export async function demoCredentials(base, directory) {
  const file = join(directory, 'demo', 'credentials.json');
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  if (kept.userKey && (await works(base, kept.userKey))) return kept;

  const session = new Session(base);
  const { me, email, password } = await signIn(session, [kept, firstPassword(directory)]);
  let current = password;
  if (me.must_change_password) {
    const chosen = randomBytes(12).toString('base64url');
    await session.send('POST', '/api/v1/auth/password', { current_password: current, new_password: chosen });
    current = chosen;
    writeFileSync(file, JSON.stringify({ email, password: current }), { mode: 0o600 });
  }
  await session.send('POST', '/api/v1/workspaces/demo/members', { email, author: true, promoter: true, admin: true });
  const userKey = await session.send('POST', '/api/v1/auth/api-keys', { name: 'demo client', scopes: ['author'] });
  const endpointKey = await session.send('POST', '/api/v1/auth/api-keys', {
    name: 'demo endpoint',
    kind: 'endpoint',
    bindings: ['/travel'],
  });
  const credentials = { email, password: current, userKey: userKey.key, endpointKey: endpointKey.key };
  writeFileSync(file, JSON.stringify(credentials), { mode: 0o600 });
  return credentials;
}

/** The one-time password that the server left at its first start. */
function firstPassword(directory) {
  const file = join(directory, 'admin-password');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** The first login that works: the kept one, or, when the databases were made anew, the first password. */
async function signIn(session, candidates) {
  for (const { email, password } of candidates) {
    if (!password) continue;
    const answer = await session.login(email, password);
    if (answer) return { me: answer, email, password };
  }
  throw new Error(
    'No password of the administrator works any more. Sign in with your own and make a key, or remove the folder .penstock to begin anew.',
  );
}

async function works(base, key) {
  return (await fetch(`${base}/api/v1/auth/me`, { headers: { 'DP-API-Key': key } })).ok;
}

/** A browser's cookies and CSRF header, acting in the demo workspace. */
class Session {
  #cookies = new Map();

  constructor(base) {
    this.base = base;
  }

  /** Oneself, or undefined for a password that is wrong. */
  async login(email, password) {
    await this.#fetch('GET', '/login');
    const response = await this.#fetch('POST', '/login', { email, password });
    if (response.status === 401) return undefined;
    const text = await response.text();
    if (!response.ok) throw new Error(`The sign-in answered ${response.status}: ${text}`);
    return JSON.parse(text).data;
  }

  async send(method, path, body, headers = { 'DP-Workspace': 'demo' }) {
    const response = await this.#fetch(method, path, body, headers);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text).data;
  }

  async #fetch(method, path, body, headers = {}) {
    const response = await fetch(`${this.base}${path}`, {
      method,
      headers: {
        ...headers,
        Cookie: [...this.#cookies].map((pair) => pair.join('=')).join('; '),
        'DP-CSRF-Token': decodeURIComponent(this.#cookies.get('dp_csrf') ?? ''),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [name, value] = cookie.split(';')[0].split('=');
      this.#cookies.set(name, value);
    }
    return response;
  }
}
