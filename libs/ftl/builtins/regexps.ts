import { compileRegex, escapeRegex, parseFlags, type RegexFlags } from '../format/regex.js';
import type { Text } from '../runtime/coerce.js';
import { standingOff } from '../runtime/standing-off.js';
import { derived, STRING_TYPE } from '../runtime/taint.js';
import { describe, sequence, string, type SequenceValue, type StringValue, type Value } from '../runtime/values.js';
import type { Builtin, BuiltinCall, BuiltinFamily } from './builtin-call.js';

function flagsAt(call: BuiltinCall, index: number, refused = ''): RegexFlags {
  const text = call.count > index ? call.textArgument(index).text : '';
  const flags = parseFlags(text);
  if (!flags) throw call.fault('the flags are i, m, s, c, r and f.');
  for (const letter of refused)
    if (text.includes(letter)) throw call.fault(`doesn't support the "${letter}" flag here.`);
  if (!flags.regex && (flags.multiline || flags.dotAll || flags.comments)) {
    const letter = flags.multiline ? 'm' : flags.dotAll ? 's' : 'c';
    throw call.fault(`the "${letter}" flag needs the "r" flag.`);
  }
  return flags;
}

function regex(call: BuiltinCall, pattern: string, flags: RegexFlags, whole = false): RegExp {
  const compiled = compileRegex(flags.regex ? pattern : escapeRegex(pattern), flags, whole);
  if (!compiled.ok) throw call.fault(compiled.message);
  return compiled.regex;
}

function replace(call: BuiltinCall): Value {
  call.arity(2, 3);
  const source = call.text();
  const what = call.coercedArgument(0);
  const by = call.coercedArgument(1);
  const flags = flagsAt(call, 2);
  call.run.budget.spend(source.text.length);
  const pattern = regex(call, what.text, flags);
  const template = flags.regex ? javaReplacement(call, by.text) : null;
  const written = (source.numeric || by.numeric) && !source.taint && !by.taint && !what.taint;
  const behind = (before: string, piece: string): string => (written ? standingOff(before, piece) : piece);
  let text = '';
  let from = 0;
  for (const match of source.text.matchAll(pattern)) {
    text += behind(text, source.text.slice(from, match.index));
    text += behind(text, template ? template(match) : by.text);
    from = match.index + match[0].length;
    call.run.budget.string(text.length);
    if (flags.firstOnly) break;
  }
  text += behind(text, source.text.slice(from));
  return call.string(text, source, what, by);
}

/** `$1` and `\x` of a Java replacement. */
function javaReplacement(call: BuiltinCall, by: string): (match: RegExpExecArray) => string {
  const pieces = by.match(/\\[\s\S]|\$\d|[^\\$]+|[\\$]/g) ?? [];
  if (pieces.some((piece) => piece === '\\' || piece === '$'))
    throw call.fault('the replacement has a lone "$" or "\\".');
  return (match) =>
    pieces
      .map((piece) => {
        if (piece[0] === '\\') return piece.slice(1);
        if (!/^\$\d$/.test(piece)) return piece;
        const group = Number(piece[1]);
        if (group >= match.length) throw call.fault(`the pattern has no group ${group}.`);
        return (match[group] as string | undefined) ?? '';
      })
      .join('');
}

function split(call: BuiltinCall): Value {
  call.arity(1, 2);
  const source = call.text();
  const by = call.coercedArgument(0);
  const flags = flagsAt(call, 1, 'f');
  call.run.budget.spend(source.text.length);
  const pattern = regex(call, by.text, flags);
  if (source.text === '' && by.text === '' && !flags.regex) return sequence([]);
  const pieces: string[] = [];
  let from = 0;
  for (const match of source.text.matchAll(pattern)) {
    if (match[0] === '') {
      if (match.index === 0 || match.index >= source.text.length) continue;
    }
    pieces.push(source.text.slice(from, match.index));
    from = match.index + match[0].length;
  }
  pieces.push(source.text.slice(from));
  // A regular expression drops the empty tail, as in Java.
  if (flags.regex) while (pieces.length > 1 && pieces.at(-1) === '') pieces.pop();
  call.run.budget.collection(pieces.length);
  return sequence(pieces.map((piece) => call.string(piece, source, by)));
}

function matches(call: BuiltinCall): Value {
  call.arity(1, 2);
  const given = call.text();
  const { text: pattern, taint } = call.coercedArgument(0);
  const source = { ...given, taint: given.taint ?? taint };
  const flags = { ...flagsAtForMatches(call), regex: true };
  call.run.budget.spend(source.text.length);
  const inner = regex(call, pattern, flags);
  const outer = regex(call, pattern, flags, true);
  const whole = outer.exec(source.text);
  const groupCount = new RegExp(`(?:${inner.source})|`, inner.flags).exec('')!.length;
  const found: RegExpExecArray[] = [];
  for (const match of source.text.matchAll(inner)) {
    found.push(match);
    call.run.budget.collection(found.length * match.length);
  }
  const items = found.map((match): StringValue => ({ ...piece(match[0], source), groups: groupsOf(match, source) }));
  const groups = whole ? groupsOf(whole, source) : sequence(Array.from({ length: groupCount }, () => undefined));
  return { ...sequence(items), whole: { matched: whole !== null, groups } };
}

function flagsAtForMatches(call: BuiltinCall): RegexFlags {
  const flags = parseFlags(call.count > 1 ? call.textArgument(1).text : '');
  if (!flags) throw call.fault('the flags are i, m, s and c.');
  return flags;
}

function piece(text: string, source: Text): StringValue {
  return string(text, derived(STRING_TYPE, source.taint), source.numeric);
}

function groupsOf(match: RegExpExecArray, source: Text): SequenceValue {
  return sequence(Array.from(match, (group: string | undefined) => piece(group ?? '', source)));
}

function groups(call: BuiltinCall): Value {
  const value = call.target();
  const found = value.kind === 'sequence' ? value.whole?.groups : value.kind === 'string' ? value.groups : undefined;
  if (!found) throw call.fault(`expected a result of ?matches, found ${describe(value)}.`);
  return found;
}

/** Position and length of the first or last match of `what`; null without one. */
function locate(
  call: BuiltinCall,
  text: string,
  what: string,
  flags: RegexFlags,
  last: boolean,
): [number, number] | null {
  const pattern = regex(call, what, flags);
  if (!last) {
    const match = pattern.exec(text);
    return match && [match.index, match[0].length];
  }
  let found: [number, number] | null = null;
  call.run.budget.spend(text.length);
  // Overlapping matches count: the last place where the pattern can begin.
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    found = [match.index, match[0].length];
    // By a whole character: from within a pair of surrogates the same match would be found for ever.
    pattern.lastIndex = match.index + (text.codePointAt(match.index)! > 0xffff ? 2 : 1);
  }
  return found;
}

function keep(side: 'before' | 'after', last: boolean): Builtin {
  return (call) => {
    call.arity(1, 2);
    const source = call.text();
    const what = call.textArgument(0);
    const flags = flagsAt(call, 1, 'f');
    const found = locate(call, source.text, what.text, flags, last);
    const missing = side === 'before' ? source.text : '';
    if (!found) return call.string(missing, source, what);
    const [at, size] = found;
    return call.string(side === 'before' ? source.text.slice(0, at) : source.text.slice(at + size), source, what);
  };
}

/** One argument: a plain prefix. Two or three: a pattern to look for at the start, the prefix, flags. */
function ensureStartsWith(call: BuiltinCall): Value {
  call.arity(1, 3);
  const source = call.text();
  const first = call.textArgument(0);
  if (call.count === 1) {
    return source.text.startsWith(first.text) ? call.string(source.text, source, first) : call.glued([first, source]);
  }
  const prefix = call.textArgument(1);
  const flags = call.count > 2 ? flagsAt(call, 2, 'f') : { ...flagsAt(call, 2), regex: true };
  const found = regex(call, first.text, flags).exec(source.text);
  const there = found?.index === 0;
  return there ? call.string(source.text, source, first, prefix) : call.glued([prefix, source], first);
}

export const regexps: BuiltinFamily = {
  replace,
  split,
  matches,
  groups,
  keep_before: keep('before', false),
  keep_before_last: keep('before', true),
  keep_after: keep('after', false),
  keep_after_last: keep('after', true),
  ensure_starts_with: ensureStartsWith,
};
