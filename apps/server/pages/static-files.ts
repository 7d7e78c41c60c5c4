import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type Express, type RequestHandler } from 'express';
import { readJson } from '#libs/kernel';

const GRAPHIQL = join(import.meta.dirname, '../../../graphiql');
const PAGES = join(import.meta.dirname, 'static');
const SWAGGER_UI = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));

const swaggerVersion = (
  readJson(readFileSync(join(SWAGGER_UI, 'package.json'), 'utf8')) as unknown as { version: string }
).version;
/** Its files have no hash in their names, so the version stands in their path and they may be kept for ever. */
const SWAGGER_UI_PATH = `/assets/swagger-ui/${swaggerVersion}`;
const SWAGGER_FILES = new Set(['/swagger-ui.css', '/swagger-ui-bundle.js']);

/** Scripts and styles of our own pages, under a hash of them all: they import each other by name (10 §1). */
const PAGES_PATH = `/assets/pages/${hashOf(PAGES)}`;
/** Where servers of another build have theirs: behind one balancer a page of theirs may ask us for its script. */
const OTHER_PAGES_PATH = /^\/assets\/pages\/[0-9a-f]{16}(?=\/)/;

/** A page of our own, which asks for its scripts and styles where they may be kept for ever. */
export function readPage(path: string): string {
  return withPaths(readFileSync(path, 'utf8'));
}

/** The same for a page that is written, not read. */
export function withPaths(html: string): string {
  return html
    .replaceAll('"/assets/pages/', `"${PAGES_PATH}/`)
    .replaceAll('"/assets/swagger-ui/', `"${SWAGGER_UI_PATH}/`);
}

/** Scripts and styles of our own pages; a missing file is a plain 404, never a page. */
export function serveStatic(door: Express): void {
  const options = { index: false, redirect: false, dotfiles: 'deny' as const, fallthrough: true };
  const forever = { ...options, immutable: true, maxAge: '1y' };
  door.use('/assets/graphiql', onlyFiles(express.static(GRAPHIQL, forever)));
  door.use(SWAGGER_UI_PATH, only(SWAGGER_FILES, express.static(SWAGGER_UI, forever)));
  door.use(PAGES_PATH, onlyFiles(express.static(PAGES, forever)));
  door.use(
    OTHER_PAGES_PATH,
    onlyFiles(express.static(PAGES, { ...options, cacheControl: false, setHeaders: askAgain })),
  );
}

/** The address does not name this content, so nobody may keep it without asking. */
function askAgain(response: ServerResponse): void {
  response.setHeader('Cache-Control', 'no-cache');
}

function hashOf(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}

/** The HTML shells are handlers' business: they set headers of their own. */
function onlyFiles(serve: RequestHandler): RequestHandler {
  return (request, response, next) => (request.path.endsWith('.html') ? next() : serve(request, response, next));
}

function only(files: ReadonlySet<string>, serve: RequestHandler): RequestHandler {
  return (request, response, next) => (files.has(request.path) ? serve(request, response, next) : next());
}
