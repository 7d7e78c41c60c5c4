import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CATALOGUE_SECTIONS, type CatalogueEntry } from '#libs/kernel';
import { Operation } from '../http/operation.decorator.js';

/** Where every `doc_url` leads: one page of all errors, the code is the anchor (03 §2). Public. */
@Controller('/docs')
export class DocsController {
  readonly #errors = errorPage();

  @Get('errors')
  @Operation('public')
  errors(@Res() response: Response): void {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Cache-Control', 'no-cache');
    response.end(this.#errors);
  }
}

function errorPage(): string {
  const sections = CATALOGUE_SECTIONS.map(({ title, codes }) => {
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
