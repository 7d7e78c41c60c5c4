import type { Request, Response } from 'express';
import { entityTag, namesTag } from '../http/entity-tag.js';

/** What is the same for everybody: a reader asks again each time and gets the bytes only when they changed. */
export function sendPage(request: Request, response: Response, type: string, body: string): void {
  const etag = entityTag(body);
  response.setHeader('ETag', etag);
  response.setHeader('Cache-Control', 'no-cache');
  if (namesTag(request.get('If-None-Match'), etag)) {
    response.status(304).end();
    return;
  }
  response.setHeader('Content-Type', type);
  response.end(body);
}
