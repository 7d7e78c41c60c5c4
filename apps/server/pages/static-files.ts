import { join } from 'node:path';
import express, { type Express, type RequestHandler } from 'express';

const GRAPHIQL = join(import.meta.dirname, '../../../graphiql');
const PAGES = join(import.meta.dirname, 'static');

/** Scripts and styles of our own pages; a missing file is a plain 404, never a page. */
export function serveStatic(door: Express): void {
  const options = { index: false, redirect: false, dotfiles: 'deny' as const, fallthrough: true };
  door.use('/assets/graphiql', onlyFiles(express.static(GRAPHIQL, { ...options, immutable: true, maxAge: '1y' })));
  door.use('/assets/pages', onlyFiles(express.static(PAGES, { ...options, cacheControl: false, setHeaders: noCache })));
}

function noCache(response: { setHeader(name: string, value: string): void }): void {
  response.setHeader('Cache-Control', 'no-cache');
}

/** The HTML shells are handlers' business: they set headers of their own. */
function onlyFiles(serve: RequestHandler): RequestHandler {
  return (request, response, next) => (request.path.endsWith('.html') ? next() : serve(request, response, next));
}
