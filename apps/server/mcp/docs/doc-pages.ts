import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderCalculatorReference } from '#libs/calculators';
import { renderErrorCatalogue } from '#libs/kernel';
import { renderToolReference } from './tool-reference.js';

/** A page for agents, over MCP and at `/skill/…` alike. */
export interface DocPage {
  name: string;
  title: string;
  /** When to read it. */
  purpose: string;
  markdown: () => string;
}

const PAGES = join(import.meta.dirname, 'pages');

function written(name: string, title: string, purpose: string): DocPage {
  let text: string | undefined;
  return { name, title, purpose, markdown: () => (text ??= readFileSync(join(PAGES, `${name}.md`), 'utf8')) };
}

function rendered(name: string, title: string, purpose: string, render: () => string): DocPage {
  let text: string | undefined;
  return { name, title, purpose, markdown: () => (text ??= render()) };
}

/** In reading order; the first is the way in. */
export const DOC_PAGES: readonly DocPage[] = [
  written('skill', 'Working with Penstock', 'Read first: the way that works, how to read answers, where to read on.'),
  written(
    'pipelines',
    'Pipeline documents',
    'Before pipelines_create and pipelines_update: nodes, parameters, outputs.',
  ),
  written('templates', 'Templates', 'Before templates_create: binding values, choosing structure, libraries.'),
  written('datasources', 'Datasources', 'Before reading a database: namespaces, types, probes and their limits.'),
  written('running', 'Runs and results', 'Before pipelines_execute, and when a run failed.'),
  written('checks', 'Checks', 'Before declaring checks: what may be expected and how it is judged.'),
  written('facts', 'Learned facts', 'Before semantics_record: scopes, kinds, evidence, drift.'),
  rendered('tools', 'Tools', 'Every tool with its arguments and the scope a key needs.', renderToolReference),
  rendered(
    'calculators',
    'Calculators',
    'Kinds of CALCULATOR nodes with inputs, outputs and examples.',
    renderCalculatorReference,
  ),
  rendered('errors', 'Errors', 'Every error code, its status and how to mend it.', renderErrorCatalogue),
];

export function findDocPage(name: string): DocPage | undefined {
  return DOC_PAGES.find((page) => page.name === name);
}
