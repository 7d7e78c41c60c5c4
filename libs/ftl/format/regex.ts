import { translatePattern } from './java-pattern.js';

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

export type CompiledRegex = { ok: true; regex: RegExp } | { ok: false; message: string };

/** A pattern of the common subset of Java and JavaScript as a global RegExp; `whole`: it must match from end to end. */
export function compileRegex(pattern: string, flags: RegexFlags, whole = false): CompiledRegex {
  const source = flags.comments ? withoutComments(pattern) : pattern;
  const translated = translatePattern(source, flags);
  if (!translated.ok) return { ok: false, message: `the pattern uses ${translated.uses}, which is not supported.` };
  const letters = `gu${flags.ignoreCase ? 'i' : ''}${flags.multiline ? 'm' : ''}${flags.dotAll ? 's' : ''}`;
  try {
    return {
      ok: true,
      regex: new RegExp(whole ? `(?<![^])(?:${translated.source})(?![^])` : translated.source, letters),
    };
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
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
