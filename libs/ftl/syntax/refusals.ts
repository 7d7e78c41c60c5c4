import type { PlacedProblem } from '../problems.js';
import { DANGEROUS_BUILTINS } from './builtin-names.js';
import type { LineMap } from './line-map.js';
import type { Block, Expr, Node } from './nodes.js';
import { allExpressions, allNodes, ownExpressions } from './walk.js';

/** The utility package of the original engine; naming it in an expression is refused (contract 05 §4.7). */
const UTILITY_PACKAGE = 'freemarker.template.utility';

interface Finding {
  construct: string;
  match: string;
  offset: number;
}

function dangerous(lines: LineMap, { construct, match, offset }: Finding): PlacedProblem {
  const { line, column } = lines.position(offset);
  return {
    code: 'dangerous_construct',
    message: `${construct} is not allowed in a template.`,
    line,
    column,
    details: { construct, match, line, column },
  };
}

/** Refusals on the source text; after one of them the body is not parsed. */
export function sourceRefusals(source: string, lines: LineMap): PlacedProblem[] {
  const findings: Finding[] = [];
  for (const found of source.matchAll(/\[[#=]|[\uE000\uE001]/g)) {
    const marker = found[0].length === 1;
    findings.push({
      construct: marker ? 'bind marker character' : found[0],
      match: marker ? `U+E00${found[0] === '\uE000' ? 0 : 1}` : found[0],
      offset: found.index,
    });
  }
  const header = /^\s*<#ftl\b/.exec(source);
  if (header) findings.push({ construct: '#ftl', match: '<#ftl', offset: header[0].length - 5 });
  return findings.sort((a, b) => a.offset - b.offset).map((finding) => dangerous(lines, finding));
}

/** Refusals on the tree that would be executed: never on text or comments. */
export function treeRefusals(root: Block, lines: LineMap): PlacedProblem[] {
  const findings: Finding[] = [];
  for (const node of allNodes(root)) {
    const own = refusedNode(node);
    if (own) findings.push(own);
    for (const expr of allExpressions(ownExpressions(node))) {
      const finding = refusedExpression(expr);
      if (finding) findings.push(finding);
    }
  }
  const unique = new Map(findings.map((one) => [`${one.offset} ${one.construct}`, one]));
  return [...unique.values()].sort((a, b) => a.offset - b.offset).map((finding) => dangerous(lines, finding));
}

function refusedNode(node: Node): Finding | null {
  if (node.kind !== 'refused') return null;
  return { construct: node.construct, match: node.match, offset: node.start };
}

function refusedExpression(expr: Expr): Finding | null {
  if (expr.kind === 'builtin' && DANGEROUS_BUILTINS.has(expr.name)) {
    return { construct: `?${expr.name}`, match: `?${expr.name}`, offset: expr.nameStart };
  }
  if (expr.kind === 'special' && expr.name === 'get_optional_template') {
    return { construct: '.get_optional_template', match: '.get_optional_template', offset: expr.start };
  }
  const texts = expr.kind === 'string' ? [expr.value] : expr.kind === 'interpolated' ? expr.parts : [];
  for (const text of texts) {
    if (typeof text !== 'string') continue;
    if (text.includes(UTILITY_PACKAGE))
      return { construct: UTILITY_PACKAGE, match: UTILITY_PACKAGE, offset: expr.start };
    if (/[\uE000\uE001]/.test(text))
      return { construct: 'bind marker character', match: '\\xE000', offset: expr.start };
  }
  return null;
}
