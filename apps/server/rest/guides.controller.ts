import { Controller, Get, Param } from '@nestjs/common';
import { z } from 'zod';
import { PenstockError } from '#libs/kernel';
import { Describe } from '../http/describe.decorator.js';
import { Operation } from '../http/operation.decorator.js';
import { DOC_PAGES, findDocPage } from '../mcp/docs/doc-pages.js';

const entry = z.object({ id: z.string(), title: z.string(), purpose: z.string().describe('When to read it.') });
const guide = entry.extend({ markdown: z.string() }).meta({ id: 'Guide' });

/** The pages that agents read, for programs with a key: the same text as over MCP and under `/skill` (03 §3). */
@Controller('/api/v1/docs')
export class GuidesController {
  @Get()
  @Operation('reference.read')
  @Describe('List the guides of this server.', {
    answers: { 200: z.object({ docs: z.array(entry) }) },
    errors: [],
  })
  list(): { docs: z.infer<typeof entry>[] } {
    return { docs: DOC_PAGES.map(({ name, title, purpose }) => ({ id: name, title, purpose })) };
  }

  @Get(':id')
  @Operation('reference.read')
  @Describe('Read one guide, as Markdown.', { answers: { 200: guide }, errors: ['mcp.doc_not_found'] })
  read(@Param('id') id: string): z.infer<typeof guide> {
    const page = findDocPage(id);
    if (!page)
      throw new PenstockError('mcp.doc_not_found', { details: { known_docs: DOC_PAGES.map(({ name }) => name) } });
    return { id: page.name, title: page.title, purpose: page.purpose, markdown: page.markdown() };
  }
}
