import { named } from '../arguments.js';
import { listResult, result, TEXT } from '../result-schemas.js';
import { declare } from '../tool.js';

export const DOC_TOOLS = {
  list: declare({
    name: 'docs_list',
    title: 'List the documentation',
    description: 'Pages written for agents, each with when to read it. Start with "skill".',
    operation: 'reference.read',
    arguments: {},
    result: listResult(result({ name: TEXT, title: TEXT, purpose: TEXT }, 'name', 'title', 'purpose')),
    wrappedAs: 'items',
    effect: 'reads',
  }),
  get: declare({
    name: 'docs_get',
    title: 'Read a page of the documentation',
    description:
      'One page as Markdown: the document form, the template language, datasources, runs, checks, facts, tools, errors.',
    operation: 'reference.read',
    arguments: { name: named('A name that docs_list gives, such as "pipelines".') },
    result: result({ name: TEXT, title: TEXT, markdown: TEXT }, 'name', 'title', 'markdown'),
    target: 'name',
    effect: 'reads',
  }),
};
