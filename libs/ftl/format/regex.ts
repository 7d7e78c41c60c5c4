/** Flags of `?matches ?replace ?split`: case, multiline, dot-all, comments, regex, first only. */
export interface RegexFlags {
  ignoreCase: boolean;
  multiline: boolean;
  dotAll: boolean;
  comments: boolean;
  regex: boolean;
  firstOnly: boolean;
}

/** Null: a letter outside of `i m s c r f`. */
export function parseFlags(text: string): RegexFlags | null {
  if (/[^imscrf]/.test(text)) return null;
  return {
    ignoreCase: text.includes('i'),
    multiline: text.includes('m'),
    dotAll: text.includes('s'),
    comments: text.includes('c'),
    regex: text.includes('r'),
    firstOnly: text.includes('f'),
  };
}

/** What Java and JavaScript read differently, or only Java knows (contract 05 §4.6). */
const JAVA_ONLY: readonly [RegExp, string][] = [
  [/\\[QE]/, '\\Q…\\E'],
  [/\\[AGzZ]/, 'the anchors \\A \\G \\z \\Z'],
  [/[*+?}]\+/, 'possessive quantifiers'],
  [/\\p\{|\[:|\\P\{/, 'POSIX and Unicode classes'],
  [/&&/, 'class intersection'],
  [/\(\?(?![:=!]|<[=!]|<[A-Za-z])/, 'inline flags and atomic groups'],
  [/\\[hHRXeac0]/, 'escapes only Java knows'],
];

export type CompiledRegex = { ok: true; regex: RegExp } | { ok: false; message: string };

/** A pattern of the common subset of Java and JavaScript as a global, non-sticky RegExp. */
export function compileRegex(pattern: string, flags: RegexFlags): CompiledRegex {
  const source = flags.comments ? withoutComments(pattern) : pattern;
  const bare = source.replace(/\\\\/g, '  ');
  const refused = JAVA_ONLY.find(([test]) => test.test(bare));
  if (refused) return { ok: false, message: `the pattern uses ${refused[1]}, which is not supported.` };
  const letters = `g${flags.ignoreCase ? 'i' : ''}${flags.multiline ? 'm' : ''}${flags.dotAll ? 's' : ''}`;
  try {
    return { ok: true, regex: new RegExp(source, letters) };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, message: 'the pattern is malformed.' };
    throw error;
  }
}

function withoutComments(pattern: string): string {
  return pattern.replace(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|#[^\n\r]*|\s+/g, (piece) =>
    piece[0] === '#' || /^\s/.test(piece) ? '' : piece,
  );
}

export function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
