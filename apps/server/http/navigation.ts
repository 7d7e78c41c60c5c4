import type { Request, Response } from 'express';
import { isPagePath } from './raw-path.js';
import { contextOf } from './request-context.js';

/** A browser opening a page of ours, as against a program calling an interface. */
export function isNavigation(request: Request): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  return isPagePath(contextOf(request).path) && /\btext\/html\b/i.test(request.get('Accept') ?? '');
}

/** Relative, and back to where the person wanted to go: one slash, so that it names no other host (04 §3). */
export function redirectToSignIn(request: Request, response: Response): void {
  const { path, query } = contextOf(request).path;
  const wanted = query === '' ? path : `${path}?${query}`;
  const back = /^\/(?!\/)/.test(wanted) ? wanted : '/';
  redirect(response, `/login?return_to=${encodeURIComponent(back)}`);
}

export function redirect(response: Response, location: string): void {
  pointTo(response, location).end();
}

/** A redirect whose answer somebody else ends. */
export function pointTo(response: Response, location: string): Response {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Location', location);
  return response.status(302);
}
