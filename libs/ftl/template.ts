import { SyntaxFault, type FtlProblem, type PlacedProblem } from './problems.js';
import { DEFAULT_PARSE_LIMITS, type ParseLimits } from './limits.js';
import { excerptAt } from './syntax/excerpt.js';
import { LineMap } from './syntax/line-map.js';
import type { Block, MacroNode } from './syntax/nodes.js';
import { sourceRefusals, treeRefusals } from './syntax/refusals.js';
import { TemplateParser } from './syntax/template-parser.js';
import { allNodes } from './syntax/walk.js';
import { stripWhitespace } from './syntax/whitespace.js';
import { htmlEntities } from './syntax/html-entities.js';

/** A parsed body, ready to render any number of times; never changed by a render. */
export interface ParsedTemplate {
  readonly source: string;
  readonly root: Block;
  readonly lines: LineMap;
  /** Macros and functions in source order: callable before their definition. */
  readonly macros: readonly MacroNode[];
}

export type ParseOutcome = { ok: true; template: ParsedTemplate } | { ok: false; problems: FtlProblem[] };

/**
 * Parses a body and collects its defects in the order of contract 05 §8: html entities, length, source refusals (which
 * stop), syntax, refusals on the tree. Never throws; linear in the body.
 */
export function parseTemplate(source: string, options: { limits?: Partial<ParseLimits> } = {}): ParseOutcome {
  const lines = new LineMap(source);
  const judged = judge(source, { ...DEFAULT_PARSE_LIMITS, ...options.limits }, lines);
  if (judged.ok) return judged;
  const shown = (problem: PlacedProblem): FtlProblem => ({
    ...problem,
    excerpt: excerptAt(source, lines, lines.offset(problem)),
  });
  return { ok: false, problems: judged.problems.map(shown) };
}

type Judged = { ok: true; template: ParsedTemplate } | { ok: false; problems: PlacedProblem[] };

function judge(source: string, limits: ParseLimits, lines: LineMap): Judged {
  if (source.length > limits.maxBodyChars) {
    const details = { body_chars: source.length, max_body_chars: limits.maxBodyChars };
    const message = `The body is longer than ${limits.maxBodyChars} characters.`;
    return { ok: false, problems: [syntaxProblem(lines, message, 0, details)] };
  }
  const problems: PlacedProblem[] = [];
  const illFormed = /\u0000|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.exec(source);
  if (illFormed)
    problems.push(syntaxProblem(lines, 'U+0000 or an unpaired surrogate in the body.', illFormed.index, {}));
  const refused = sourceRefusals(source, lines);
  if (refused.length > 0) {
    return { ok: false, problems: [...htmlEntities(source, null, lines), ...problems, ...refused] };
  }
  const parsed = parse(source, limits, lines);
  if ('fault' in parsed) {
    return { ok: false, problems: [...htmlEntities(source, null, lines), ...problems, parsed.fault] };
  }
  problems.unshift(...htmlEntities(source, parsed.root, lines));
  problems.push(...treeRefusals(parsed.root, lines));
  if (problems.length > 0) return { ok: false, problems };
  stripWhitespace(parsed.root, lines);
  const macros = [...allNodes(parsed.root)].filter((node) => node.kind === 'macro');
  return { ok: true, template: { source, root: parsed.root, lines, macros } };
}

function parse(source: string, limits: ParseLimits, lines: LineMap): { root: Block } | { fault: PlacedProblem } {
  try {
    return { root: new TemplateParser(source, limits.maxNesting).template() };
  } catch (fault) {
    if (!(fault instanceof SyntaxFault)) throw fault;
    return { fault: syntaxProblem(lines, fault.message, fault.offset, fault.details) };
  }
}

function syntaxProblem(
  lines: LineMap,
  message: string,
  offset: number,
  details: Record<string, unknown>,
): PlacedProblem {
  const { opened_at: opened, ...rest } = details;
  const openedLine = typeof opened === 'number' ? { opened_line: lines.line(opened) } : {};
  return { code: 'syntax_error', message, ...lines.position(offset), details: { ...rest, ...openedLine } };
}

/** Macros, functions, comments and blanks only, and at least one macro or function (contract 05 §7). */
export function isLibraryBody(template: ParsedTemplate): boolean {
  return (
    template.macros.length > 0 &&
    template.root.every(
      (node) => node.kind === 'macro' || node.kind === 'comment' || (node.kind === 'text' && node.text.trim() === ''),
    )
  );
}
