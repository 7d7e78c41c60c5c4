/** What begins at a place of the template text. */
export type Markup =
  | { kind: 'interpolation' | 'comment' | 'call' | 'call-end'; at: number; after: number }
  | { kind: 'tag' | 'tag-end'; at: number; name: string; after: number };

const MARKUP = /\$\{|#\{|<#--|<\/?#([A-Za-z_]+)|<\/?@/g;

/** The next markup at or after `from`, or null. Anything else is text: `<#>`, `# {`, a lone `$`. */
export function findMarkup(source: string, from: number): Markup | null {
  MARKUP.lastIndex = from;
  const found = MARKUP.exec(source);
  if (!found) return null;
  const at = found.index;
  const after = at + found[0].length;
  if (found[1] !== undefined) {
    const name = TAG_ALIASES[found[1]] ?? found[1];
    return { kind: source[at + 1] === '/' ? 'tag-end' : 'tag', at, name, after };
  }
  switch (found[0]) {
    case '<#--':
      return { kind: 'comment', at, after };
    case '<@':
      return { kind: 'call', at, after };
    case '</@':
      return { kind: 'call-end', at, after };
    default:
      return { kind: 'interpolation', at, after };
  }
}

const TAG_ALIASES: Readonly<Record<string, string>> = {
  elseIf: 'elseif',
  forEach: 'foreach',
  noEscape: 'noescape',
  noParse: 'noparse',
};

/** Tags of §4.7 with the expression form they would take. */
export const REFUSED_TAGS: ReadonlySet<string> = new Set([
  'import',
  'include',
  'visit',
  'recurse',
  'fallback',
  'transform',
  'call',
  'ftl',
]);

export const SUPPORTED_TAGS: readonly string[] =
  'if elseif else list items sep foreach break continue switch case on default assign global local macro function return nested attempt recover compress escape noescape noparse t lt rt nt stop flush setting'.split(
    ' ',
  );
