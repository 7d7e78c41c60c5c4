import type { ParsedTemplate } from '../template.js';
import type { Namespace } from './values.js';

/** A parsed library and what it imports itself. One object per library version: shared ones share a namespace. */
export interface Library {
  template: ParsedTemplate;
  imports: Imports;
}

export type Imports = ReadonlyMap<string, Library>;

/** Fresh namespaces for one render; macros are there before anything runs. */
export function linkNamespaces(template: ParsedTemplate, imports: Imports): Namespace {
  const known = new Map<ParsedTemplate, Namespace>();
  const main = newNamespace(template, known);
  const open: [Namespace, Imports][] = [[main, imports]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [namespace, wanted] = next;
    for (const [alias, library] of wanted) {
      const existing = known.get(library.template);
      namespace.imports.set(alias, existing ?? newNamespace(library.template, known));
      if (!existing) open.push([namespace.imports.get(alias)!, library.imports]);
    }
  }
  return main;
}

function newNamespace(template: ParsedTemplate, known: Map<ParsedTemplate, Namespace>): Namespace {
  const namespace: Namespace = { template, vars: new Map(), imports: new Map() };
  for (const node of template.macros) namespace.vars.set(node.name, { kind: 'macro', node, namespace });
  known.set(template, namespace);
  return namespace;
}
