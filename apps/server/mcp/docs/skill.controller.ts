import { Controller, Get, Param, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Configuration, PenstockError } from '#libs/kernel';
import { Describe, raw } from '../../http/describe.decorator.js';
import { Operation } from '../../http/operation.decorator.js';
import { DOC_PAGES, findDocPage } from './doc-pages.js';

const MARKDOWN = 'text/markdown; charset=utf-8';
const ENTRY = 'skill';

/** The pages for agents, for whoever comes without a key (06 §12): an agent reads them before it has one. */
@Controller()
export class SkillController {
  readonly #llms: string;

  constructor(configuration: Configuration) {
    this.#llms = llmsText(configuration.get('datapipelines.auth.base-url') ?? '');
  }

  @Get('/skill.md')
  @Operation('public')
  @Describe('Read how an agent works with this server.', {
    answers: { 200: raw('text/markdown', 'The entry page.') },
    errors: [],
  })
  entry(@Res() response: Response): void {
    this.#page(ENTRY, response);
  }

  /** `SKILL.md` is the entry; the others go by their names. */
  @Get('/skill/:file')
  @Operation('public')
  @Describe('Read one page of the guide for agents.', {
    answers: { 200: raw('text/markdown', 'The page.') },
    errors: ['mcp.doc_not_found', 'request.not_found'],
  })
  page(@Param('file') file: string, @Res() response: Response): void {
    const name = file === 'SKILL.md' ? ENTRY : file.endsWith('.md') ? file.slice(0, -3) : '';
    this.#page(name, response);
  }

  @Get('/llms.txt')
  @Operation('public')
  @Describe('Read the index of what there is to read, as llms.txt.', {
    answers: { 200: raw('text/plain', 'The index.') },
    errors: [],
  })
  index(@Res() response: Response): void {
    send(response, 'text/plain; charset=utf-8', this.#llms);
  }

  #page(name: string, response: Response): void {
    const page = findDocPage(name);
    if (!page) {
      throw new PenstockError('request.not_found', {
        message: 'There is no such page; /llms.txt names them all.',
        details: { known_docs: DOC_PAGES.map((each) => each.name) },
      });
    }
    send(response, MARKDOWN, page.markdown());
  }
}

function send(response: Response, type: string, text: string): void {
  response.setHeader('Content-Type', type);
  response.setHeader('Cache-Control', 'no-cache');
  response.end(text);
}

/** The index of llms.txt: a title, a summary, links with what each is for. */
function llmsText(baseUrl: string): string {
  const link = ({ name, title, purpose }: (typeof DOC_PAGES)[number]): string =>
    `- [${title}](${baseUrl}/skill/${name === ENTRY ? 'SKILL' : name}.md): ${purpose}`;
  return [
    '# Penstock',
    '',
    '> A self-hosted data-pipeline server for people and for agents. Agents author and run pipelines over MCP (streamable HTTP)',
    `> at ${baseUrl}/mcp with an API key in \`DP-API-Key\` or \`Authorization: Bearer\`; people release them.`,
    '',
    '## Documentation',
    '',
    ...DOC_PAGES.map(link),
    '',
    '## Interfaces',
    '',
    `- [MCP](${baseUrl}/mcp): tools, resources and prompts; POST only, no session`,
    `- [REST](${baseUrl}/api/v1): everything the tools do, and what is for people`,
    `- [GraphQL](${baseUrl}/graphql): the same in one request`,
    `- [Errors](${baseUrl}/docs/errors): every code and how to mend it`,
    '',
  ].join('\n');
}
