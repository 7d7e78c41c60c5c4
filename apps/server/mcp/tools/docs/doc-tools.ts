import { Injectable } from '@nestjs/common';
import { PenstockError } from '#libs/kernel';
import { DOC_PAGES, findDocPage } from '../../docs/doc-pages.js';
import { serve, type ToolFamily } from '../tool.js';
import { DOC_TOOLS } from './doc-declarations.js';

/** The pages that stand at `/skill/…` too. */
@Injectable()
export class DocTools implements ToolFamily {
  readonly tools = [
    serve(DOC_TOOLS.list, () =>
      Promise.resolve(DOC_PAGES.map(({ name, title, purpose }) => ({ name, title, purpose }))),
    ),
    serve(DOC_TOOLS.get, async (_call, { name }) => {
      const page = findDocPage(name);
      if (page) return { name, title: page.title, markdown: page.markdown() };
      throw new PenstockError('mcp.doc_not_found', { details: { known_docs: DOC_PAGES.map((each) => each.name) } });
    }),
  ];
}
