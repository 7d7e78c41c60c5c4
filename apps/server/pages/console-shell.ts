import { join } from 'node:path';
import type { Request, Response } from 'express';
import { entityTag, namesTag } from '../http/entity-tag.js';
import { readPage } from './static-files.js';

const html = readPage(join(import.meta.dirname, 'static/shell.html'));
const etag = entityTag(html);
/** First segments of the console's own places (10 §3); under any other the shell says that nothing is there. */
const CONSOLE_ROOT = /^\/(signed-in|welcome|w|settings|admin|system)(\/|$)/;

/** The one page of the console, for every address of it (10 §1). It carries no user data, so it may be kept and asked for again. */
export function sendShell(request: Request, response: Response, path: string): void {
  const known = CONSOLE_ROOT.test(path);
  response.setHeader('ETag', etag);
  response.setHeader('Cache-Control', 'no-cache');
  if (known && namesTag(request.get('If-None-Match'), etag)) {
    response.status(304).end();
    return;
  }
  response.status(known ? 200 : 404);
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(html);
}
