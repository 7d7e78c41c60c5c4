import { stringify } from 'lossless-json';

/** A browser: its cookies, and the token that comes with each unsafe request. */
export class Browser {
  #cookies = new Map();

  /** As whoever has opened the sign-in page: it has the token that a sign-in comes with. */
  async open(baseUrl) {
    this.keep(await fetch(`${baseUrl}/login`, { redirect: 'manual', signal: AbortSignal.timeout(30_000) }));
  }

  async signIn(baseUrl, { email, password }) {
    await this.open(baseUrl);
    const headers = { ...this.headers(), 'Content-Type': 'application/json', Accept: 'application/json' };
    const body = stringify({ email, password });
    const answer = await fetch(`${baseUrl}/login`, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(30_000),
    });
    if (answer.status !== 200) throw new TypeError(`POST /login answered ${answer.status} to ${email}`);
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
