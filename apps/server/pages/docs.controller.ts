import { join } from 'node:path';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { REFERENCE_SECTIONS, writeJson, type CatalogueEntry } from '#libs/kernel';
import { pipelineSchema } from '#libs/pipelines';
import { Describe, nothing, raw } from '../http/describe.decorator.js';
import { Operation } from '../http/operation.decorator.js';
import { ApiReference } from '../openapi/api-reference.js';
import { sendPage } from './send-page.js';
import { readPage, withPaths } from './static-files.js';

const UNCHANGED = nothing('Nothing changed since the `ETag` that was sent.');

/** The reference of every interface, for people and for programs. Public: it says nothing of anybody's data. */
@Controller('/docs')
export class DocsController {
  readonly #errors = withPaths(errorPage());
  readonly #api = readPage(join(import.meta.dirname, 'static/api.html'));
  readonly #pipelineSchema = writeJson(pipelineSchema());

  constructor(private readonly reference: ApiReference) {}

  /** Where every `doc_url` leads: one page of all errors, the code is the anchor (03 §2). */
  @Get('errors')
  @Operation('public')
  @Describe('Show every error code with its meaning and its remedy.', {
    answers: { 200: raw('text/html', 'The page.'), 304: UNCHANGED },
    errors: [],
  })
  errors(@Req() request: Request, @Res() response: Response): void {
    sendPage(request, response, 'text/html; charset=utf-8', this.#errors);
  }

  /** The REST API, to read and to try: it runs requests as whoever is signed in in this browser. */
  @Get('api')
  @Operation('public')
  @Describe('Show the REST API, to read and to try.', {
    answers: { 200: raw('text/html', 'The page.'), 304: UNCHANGED },
    errors: [],
  })
  api(@Req() request: Request, @Res() response: Response): void {
    sendPage(request, response, 'text/html; charset=utf-8', this.#api);
  }

  @Get('openapi.json')
  @Operation('public')
  @Describe('Read this document.', {
    answers: { 200: raw('application/json', 'OpenAPI 3.1, generated from the code that answers.'), 304: UNCHANGED },
    errors: [],
  })
  openapi(@Req() request: Request, @Res() response: Response): void {
    sendPage(request, response, 'application/json; charset=utf-8', this.reference.openapi);
  }

  /** For editors: `"$schema"` of a pipeline file may name this address (10 §1). */
  @Get('pipeline.schema.json')
  @Operation('public')
  @Describe('Read the JSON Schema of a pipeline document.', {
    answers: { 200: raw('application/schema+json', 'JSON Schema 2020-12.'), 304: UNCHANGED },
    errors: [],
  })
  pipelineSchema(@Req() request: Request, @Res() response: Response): void {
    sendPage(request, response, 'application/schema+json; charset=utf-8', this.#pipelineSchema);
  }

  @Get('schema.graphql')
  @Operation('public')
  @Describe('Read the GraphQL schema.', {
    answers: { 200: raw('text/plain', 'The schema in its own language.'), 304: UNCHANGED },
    errors: [],
  })
  schema(@Req() request: Request, @Res() response: Response): void {
    sendPage(request, response, 'text/plain; charset=utf-8', this.reference.schema);
  }
}

function errorPage(): string {
  const sections = REFERENCE_SECTIONS.map(({ title, codes }) => {
    const rows = Object.entries(codes).map(([code, entry]) => errorEntry(code, entry));
    return `<h2>${escape(title)}</h2>\n<dl>\n${rows.join('\n')}\n</dl>`;
  });
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Errors · Penstock</title>
    <link rel="icon" href="/assets/pages/icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="/assets/pages/page.css" />
  </head>
  <body>
    <main class="document">
      <h1>Errors</h1>
      <p>Every refusal carries one of these codes, in every interface. A code without a status is recorded or sent as a warning.</p>
${sections.join('\n')}
    </main>
  </body>
</html>
`;
}

function errorEntry(code: string, { status, alternateStatus, title, fix }: CatalogueEntry): string {
  const statuses = [status, alternateStatus].filter((each) => each != null).join(' or ');
  return `<div id="${code}"><dt><code>${code}</code> <span>${statuses || 'no status'}</span></dt><dd>${escape(title)}</dd><dd>${escape(fix)}</dd></div>`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
