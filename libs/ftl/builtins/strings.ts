import { parseDecimal } from '../decimal.js';
import { boolean, integer, number, sequence, type Value } from '../runtime/values.js';
import { authorText, type Text } from '../runtime/standing-off.js';
import { APPROXIMATE_TYPE, BIGDECIMAL_TYPE, derived } from '../runtime/taint.js';
import type { Builtin, BuiltinCall, BuiltinFamily } from './builtin-call.js';

const mapped = (change: (text: string) => string): Builtin => {
  return (call) => {
    call.arity(0);
    const source = call.text();
    return call.string(change(source.text), source);
  };
};

/** Upper or lower case of every character by itself: no locale, no change of length rules but Unicode's own. */
const upper = (text: string): string => text.toUpperCase();
const lower = (text: string): string => text.toLowerCase();

function firstLetter(change: (text: string) => string): Builtin {
  return mapped((text) => {
    const at = text.search(/\S/);
    return at < 0 ? text : text.slice(0, at) + change(text[at]!) + text.slice(at + 1);
  });
}

function search(find: (text: string, part: string, from: number | undefined) => number): Builtin {
  return (call) => {
    call.arity(1, 2);
    const { text } = call.text();
    const from = call.count > 1 ? call.indexArgument(1) : undefined;
    return integer(find(text, call.textArgument(0).text, from));
  };
}

function ask(answer: (text: string, part: string) => boolean): Builtin {
  return (call) => {
    call.arity(1);
    const { text } = call.text();
    return boolean(answer(text, call.textArgument(0).text));
  };
}

function withPart(change: (text: string, part: string) => string): Builtin {
  return (call) => {
    call.arity(1);
    const source = call.text();
    const part = call.textArgument(0);
    return call.string(change(source.text, part.text), source, part);
  };
}

function ensureEndsWith(call: BuiltinCall): Value {
  call.arity(1);
  const source = call.text();
  const part = call.textArgument(0);
  return source.text.endsWith(part.text) ? call.string(source.text, source, part) : call.glued([source, part]);
}

/** Without what only a string value has. */
const asText = ({ text, taint, numeric }: Text): Text => ({ text, taint, numeric });

function pad(side: 'left' | 'right'): Builtin {
  return (call) => {
    call.arity(1, 2);
    const source = call.text();
    const width = call.indexArgument(0);
    call.run.budget.string(width);
    const filling = call.count > 1 ? call.textArgument(1) : authorText(' ');
    if (filling.text === '') throw call.fault('needs a filling of at least one character.');
    const missing = width - source.text.length;
    if (missing <= 0) return call.string(source.text, source);
    const { text } = filling;
    // The filling keeps its phase from the edge of the result, as if the text lay over it.
    const whole = text.repeat(Math.ceil(width / text.length)).slice(0, width);
    if (side === 'left') return call.glued([{ ...asText(filling), text: whole.slice(0, missing) }, source]);
    return call.glued([source, { ...asText(filling), text: whole.slice(source.text.length) }]);
  };
}

function substring(call: BuiltinCall): Value {
  call.arity(1, 2);
  const source = call.text();
  const from = call.indexArgument(0);
  const to = call.count > 1 ? call.indexArgument(1) : source.text.length;
  if (from < 0 || to > source.text.length || from > to) throw call.fault('the indexes leave the string.');
  return call.string(source.text.slice(from, to), source);
}

function truncate(call: BuiltinCall): Value {
  call.arity(1, 2);
  const source = call.text();
  const most = call.indexArgument(0);
  if (most < 0) throw call.fault('needs a length of at least 0.');
  const terminator = call.count > 1 ? call.textArgument(1) : authorText('[...]');
  const text = truncated(source.text, most, terminator.text, call.name);
  if (text === source.text) return call.string(text, source, terminator);
  return call.glued([{ ...asText(source), text: text.slice(0, text.length - terminator.text.length) }, terminator]);
}

/** Cuts at a word end if that fills three quarters of the room, else inside a word. */
function truncated(text: string, most: number, terminator: string, mode: string): string {
  if (text.length <= most) return text;
  const atWord = mode === 'truncate_c' ? null : cutAt(text, most, terminator, true);
  if (atWord !== null && (mode === 'truncate_w' || atWord.length >= most * 0.75)) return atWord;
  return cutAt(text, most, terminator, false);
}

/** The longest cut that fits; behind a whole word the terminator stands off by a space. */
function cutAt(text: string, most: number, terminator: string, wordsOnly: boolean): string {
  for (let at = most - terminator.length; at > 0; at--) {
    const insideWord = /\S\S/.test(text.slice(at - 1, at + 1));
    if (insideWord && !wordsOnly) return text.slice(0, at) + terminator;
    const kept = insideWord ? '' : text.slice(0, at).trimEnd();
    if (kept !== '' && kept.length + 1 + terminator.length <= most) return `${kept} ${terminator}`;
  }
  return terminator;
}

function wordList(call: BuiltinCall): Value {
  const source = call.text();
  const words = source.text.match(/\S+/g) ?? [];
  call.run.budget.collection(words.length);
  return sequence(words.map((word) => call.string(word, source)));
}

const SPECIAL_NUMBERS: ReadonlyMap<string, number> = new Map([
  ['NaN', NaN],
  ['INF', Infinity],
  ['-INF', -Infinity],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

function toNumber(call: BuiltinCall): Value {
  const value = call.target();
  if (value.kind === 'number') return value;
  const { text, taint } = call.text();
  const special = SPECIAL_NUMBERS.get(text);
  if (special !== undefined) return number(special, derived(APPROXIMATE_TYPE, taint));
  if (text.length > 1002) throw call.fault('the text is no number.', { reason: 'number_too_large' });
  const plainText = expandExponent(text);
  const parsed = plainText === null ? null : parseDecimal(plainText);
  if (!parsed) throw call.fault('the text is no number.');
  return number(parsed, derived(BIGDECIMAL_TYPE, taint));
}

function expandExponent(text: string): string | null {
  const match = /^([-+]?)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d{1,3}))?$/.exec(text);
  if (!match || !/^[-+]?\.?\d/.test(text)) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const shift = Number(exponent);
  if (shift === 0) return text.replace(/[eE].*$/, '');
  const digits = whole + fraction;
  const point = whole.length + shift;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits.padEnd(point, '0');
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

function toBoolean(call: BuiltinCall): Value {
  const value = call.target();
  if (value.kind === 'boolean') return value;
  const { text, taint } = call.text();
  if (text !== 'true' && text !== 'false') throw call.fault('the text is neither "true" nor "false".');
  return { kind: 'boolean', truth: text === 'true', taint: derived({ type: 'BOOLEAN' }, taint) };
}

function trim(call: BuiltinCall): Value {
  const value = call.target();
  if (value.kind !== 'fragment') {
    const source = call.text();
    return call.string(trimBlanks(source.text), source);
  }
  const parts = value.parts.map((part) => ({ ...part }));
  for (const [at, edge] of [
    [0, /^[\s\u0000-\u0020]+/],
    [-1, /[\s\u0000-\u0020]+$/],
  ] as const) {
    for (let part = parts.at(at); part?.kind === 'text'; part = parts.at(at)) {
      part.text = part.text.replace(edge, '');
      if (part.text !== '') break;
      parts.splice(at, 1);
    }
  }
  return { kind: 'fragment', parts };
}

/** Java's trim: everything up to U+0020 goes. */
function trimBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && text.charCodeAt(from) <= 32) from++;
  while (to > from && text.charCodeAt(to - 1) <= 32) to--;
  return text.slice(from, to);
}

export const strings: BuiltinFamily = {
  upper_case: mapped(upper),
  lower_case: mapped(lower),
  c_upper_case: mapped(upper),
  c_lower_case: mapped(lower),
  cap_first: firstLetter(upper),
  uncap_first: firstLetter(lower),
  capitalize: mapped((text) => text.replace(/\S+/g, (word) => upper(word[0]!) + lower(word.slice(1)))),
  chop_linebreak: mapped((text) => text.replace(/(?:\r\n|\n|\r)$/, '')),
  trim,
  length: (call) => integer(call.text().text.length),
  contains: ask((text, part) => text.includes(part)),
  starts_with: ask((text, part) => text.startsWith(part)),
  ends_with: ask((text, part) => text.endsWith(part)),
  index_of: search((text, part, from = 0) => text.indexOf(part, from)),
  last_index_of: search((text, part, from = Infinity) => (from < 0 ? -1 : text.lastIndexOf(part, from))),
  ensure_ends_with: ensureEndsWith,
  remove_beginning: withPart((text, part) => (text.startsWith(part) ? text.slice(part.length) : text)),
  remove_ending: withPart((text, part) => (text.endsWith(part) ? text.slice(0, text.length - part.length) : text)),
  left_pad: pad('left'),
  right_pad: pad('right'),
  substring,
  truncate,
  truncate_c: truncate,
  truncate_w: truncate,
  word_list: wordList,
  number: toNumber,
  boolean: toBoolean,
};
