import type { Request, Response } from 'express';

/**
 * The two cookies of a signed-in person, and the one of somebody on the way there (04 §3, §4.4, §9.2). `hostPrefix`
 * gives them `__Host-` names, which browsers accept from a secure connection only and tie to this very host.
 */
export class Cookies {
  readonly #session: string;
  readonly #csrf: string;
  readonly #transaction: string;

  constructor(
    private readonly secure: boolean,
    hostPrefix: boolean,
  ) {
    this.#session = hostPrefix ? '__Host-dp_session' : 'dp_session';
    this.#csrf = hostPrefix ? '__Host-dp_csrf' : 'dp_csrf';
    this.#transaction = hostPrefix ? '__Host-dp_oauth2_authz' : 'dp_oauth2_authz';
  }

  session(request: Request): string | undefined {
    return read(request, this.#session);
  }

  csrf(request: Request): string | undefined {
    return read(request, this.#csrf);
  }

  setSession(response: Response, token: string, expiresAt: Date): void {
    response.cookie(this.#session, token, {
      httpOnly: true,
      secure: this.secure,
      sameSite: 'lax',
      path: '/',
      expires: expiresAt,
    });
  }

  /** A re-issued token keeps the session's own end, which is inside it; the cookie ends with the browser at the latest. */
  renewSession(response: Response, token: string): void {
    response.cookie(this.#session, token, { httpOnly: true, secure: this.secure, sameSite: 'lax', path: '/' });
  }

  /** Readable by scripts: a page sends it back as `DP-CSRF-Token`. */
  setCsrf(response: Response, token: string, expiresAt?: Date): void {
    response.cookie(this.#csrf, token, { secure: this.secure, sameSite: 'lax', path: '/', expires: expiresAt });
  }

  transaction(request: Request): string | undefined {
    return read(request, this.#transaction);
  }

  /** Lax, because the provider sends the browser back by a link from another site. */
  setTransaction(response: Response, sealed: string, maxAgeSeconds: number): void {
    response.cookie(this.#transaction, sealed, {
      httpOnly: true,
      secure: this.secure,
      sameSite: 'lax',
      path: '/',
      maxAge: maxAgeSeconds * 1000,
    });
  }

  clearTransaction(response: Response): void {
    response.clearCookie(this.#transaction, { httpOnly: true, secure: this.secure, sameSite: 'lax', path: '/' });
  }

  clear(response: Response): void {
    for (const name of [this.#session, this.#csrf]) {
      response.clearCookie(name, { secure: this.secure, sameSite: 'lax', path: '/' });
    }
  }
}

function read(request: Request, name: string): string | undefined {
  for (const pair of (request.get('Cookie') ?? '').split(';')) {
    const mark = pair.indexOf('=');
    if (mark > 0 && pair.slice(0, mark).trim() === name) return decode(pair.slice(mark + 1).trim());
  }
  return undefined;
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch (error) {
    if (error instanceof URIError) return value;
    throw error;
  }
}
