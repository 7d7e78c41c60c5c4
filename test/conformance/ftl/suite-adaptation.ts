import type { Value } from '../../../libs/ftl/runtime/values.js';

/**
 * How a Tier 2 case of FreeMarker's suite becomes one of ours (contract 05 §16): mechanically, by the rules below. Lines
 * with what the product refuses or does not have go, what another file of the suite would give is written out, square brackets become angle ones, and what a dropped line would
 * have printed goes from the expected text.
 */

/** What the product refuses or does not have (contract 05 §4.2, §4.6, §4.7), as it stands in a line of a template. */
const REFUSED = [
  /\?(interpret|eval|new|api|has_api|rtf|is_transform|is_node)\b/,
  /<#(include|import|visit|recurse|fallback|transform|call|ftl)\b/,
  // A macro whose only line is one of those.
  /\b(interpretTest|canufeelitbabe)\b/,
  // The locale is en_US, and texts are UTF-8.
  /<#setting locale ?= ?"(?!en_US)/,
  /<#setting url_escaping_charset/,
  /\?(url|url_path)\('/,
];

export interface Adaptation {
  /** Lines of the template that go beside those of `REFUSED`. */
  drop?: readonly RegExp[];
  /** Lines of the expected text whose cause was dropped. */
  without?: readonly RegExp[];
  /** Rewrites the template before lines are dropped. */
  rewrite?: (template: string) => string;
  /** The same for the expected text, where a decision of contract 05 §4 prints something else. */
  rewriteExpected?: (expected: string) => string;
  /** Why something is rewritten. */
  because?: string;
  /** What the suite's runner puts into the data of this case alone, as values the product has. */
  data?: Record<string, Value>;
}

/** `included` gives the text of another file of the suite, which is written out where it is included. */
export function adaptedTemplate(
  template: string,
  { rewrite, drop = [] }: Adaptation,
  included: (file: string) => string | undefined,
): string {
  const source = rewrite ? rewrite(template) : template;
  return source
    .replace(/<#include ['"](.*?)['"]>/g, (tag, file: string) => included(file) ?? tag)
    .split('\n')
    .filter((line) => ![...REFUSED, ...drop].some((rule) => rule.test(line)))
    .join('\n');
}

export function adaptedExpectation(expected: string, { without = [], rewriteExpected }: Adaptation): string {
  const kept = expected
    .split('\n')
    .filter((line) => !without.some((rule) => rule.test(line)))
    .join('\n');
  return rewriteExpected ? rewriteExpected(kept) : kept;
}

/** Tags in square brackets as tags in angle ones; what is text or an index stays. */
export function angleBrackets(template: string): string {
  const source = template.replaceAll('[#--', '<#--').replaceAll('--]', '-->');
  let text = '';
  let at = 0;
  for (const { index } of source.matchAll(/\[\/?[#@]/g)) {
    if (index < at) continue;
    const end = closingBracket(source, index);
    text += `${source.slice(at, index)}<${source.slice(index + 1, end)}>`;
    at = end + 1;
  }
  return text + source.slice(at);
}

function closingBracket(source: string, start: number): number {
  let depth = 0;
  let quote = '';
  for (let at = start; at < source.length; at++) {
    const one = source[at]!;
    if (quote) quote = one === quote ? '' : quote;
    else if (one === '"' || one === "'") quote = one;
    else if (one === '[') depth++;
    else if (one === ']' && --depth === 0) return at;
  }
  throw new TypeError(`a tag at ${start} is not closed`);
}
