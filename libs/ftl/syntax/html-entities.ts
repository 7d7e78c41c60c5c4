import type { PlacedProblem } from '../problems.js';
import type { LineMap } from './line-map.js';
import type { Block } from './nodes.js';
import { allNodes } from './walk.js';

const ENTITY = /&(?:lt|gt|amp|quot|#39);/g;

/**
 * HTML entities in template text: SQL that went through an HTML encoder (contract 05 §4.7). Inside FTL tags `&lt;` is
 * an operator. Without a tree (the body does not parse) everything outside of `<#…>`, `<@…>` and `${…}` is taken as text.
 */
export function htmlEntities(source: string, root: Block | null, lines: LineMap): PlacedProblem[] {
  const spans: { start: number; end: number }[] = root ? textSpans(root) : roughSpans(source);
  const problems: PlacedProblem[] = [];
  for (const { start, end } of spans) {
    for (const found of source.slice(start, end).matchAll(ENTITY)) {
      const { line, column } = lines.position(start + found.index);
      problems.push({
        code: 'html_entity',
        message: `The HTML entity ${found[0]} stands in the SQL text; write the character itself.`,
        line,
        column,
        details: { entity: found[0], line },
      });
    }
  }
  return problems;
}

function textSpans(root: Block): { start: number; end: number }[] {
  return [...allNodes(root)].filter((node) => node.kind === 'text');
}

function roughSpans(source: string): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  let start = 0;
  for (const tag of source.matchAll(/<#--[\s\S]*?(?:-->|$)|<\/?[#@][^>]*>?|[$#]\{[^}]*\}?/g)) {
    spans.push({ start, end: tag.index });
    start = tag.index + tag[0].length;
  }
  spans.push({ start, end: source.length });
  return spans;
}
