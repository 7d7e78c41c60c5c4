import { coerceText, LOGICAL_TYPES, quoteIdentifier, type ColumnType } from '#libs/typesystem';
import { fragmentFault, toText } from '../runtime/coerce.js';
import type { BindPart, OutputPart } from '../runtime/output.js';
import { bindOf, typedValue } from '../runtime/printing.js';
import { smallestNumberType } from '../runtime/number-taint.js';
import { describe, string, type Value } from '../runtime/values.js';
import { BIGDECIMAL_TYPE, BOOLEAN_TYPE, STRING_TYPE, type Taint } from '../runtime/taint.js';
import { emptyList } from '../sql/empty-list.js';
import { GuardTrip } from '../runtime/budget.js';
import type { BuiltinCall, BuiltinFamily } from './builtin-call.js';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,62}(?:\.[A-Za-z_][A-Za-z0-9_]{0,62}){0,2}$/;

function literals(call: BuiltinCall): string[] {
  return (call.expr.args ?? []).flatMap((arg) => (arg.kind === 'string' ? [arg.value] : []));
}

function notAllowed(call: BuiltinCall): Error {
  return call.fault('the value is not allowed here.', { kind: 'position', reason: 'not_allowed' });
}

function scalar(call: BuiltinCall): { text: string; taint: Taint | null } {
  const value = call.target();
  if (value.kind === 'fragment') throw fragmentFault(call.run, call.expr.target);
  return toText(call.run, value, call.expr.target);
}

/** Each part quoted for the dialect; with a list only its items pass (contract 05 §5.4). */
function sqlIdentifier(call: BuiltinCall): Value {
  const { text, taint } = scalar(call);
  const listed = literals(call);
  const wanted = listed.length > 0 && taint?.sample && !listed.includes(text) ? listed[0]! : text;
  if (!IDENTIFIER.test(wanted) || (listed.length > 0 && !listed.includes(wanted))) throw notAllowed(call);
  return string(
    wanted
      .split('.')
      .map((part) => quoteIdentifier(call.run.dialect, part))
      .join('.'),
  );
}

/** The listed literal that equals the value, exactly or else ignoring case. */
function sqlChoice(call: BuiltinCall): Value {
  const { text, taint } = scalar(call);
  const listed = literals(call);
  const folded = text.toLowerCase();
  const found = listed.find((one) => one === text) ?? listed.find((one) => one.toLowerCase() === folded);
  const choice = found ?? (taint?.sample ? listed[0] : undefined);
  if (choice === undefined) throw notAllowed(call);
  return string(choice);
}

/** Every item bound, the author's too; an empty list is a query without rows. */
function sqlList(call: BuiltinCall): Value {
  const value = call.target();
  if (value.kind === 'fragment') throw fragmentFault(call.run, call.expr.target);
  if (value.kind !== 'sequence') {
    throw call.run.fault(call.expr.target, `?sql_list expected a sequence, found ${describe(value)}.`);
  }
  const [typeName] = literals(call);
  const declared = typeName === undefined ? null : itemType(call, typeName);
  const { maxListBinds } = call.run.budget.limits;
  if (value.size > maxListBinds) throw new GuardTrip('max-list-binds');
  const items = call.materialise(value);
  const origin = call.run.origin(call.expr);
  if (items.length === 0) {
    if (!declared) {
      throw call.fault('an empty list needs a known item type.', { kind: 'position', reason: 'empty_list' });
    }
    return { kind: 'fragment', parts: [{ kind: 'list-text', text: emptyList(call.run.dialect, declared), origin }] };
  }
  const parts: OutputPart[] = [];
  items.forEach((item, index) => {
    if (index > 0) parts.push({ kind: 'text', text: ', ', origin, numeric: false });
    parts.push({ ...itemBind(call, item, declared, index), list: { first: index === 0 } });
  });
  return { kind: 'fragment', parts };
}

/** The name as an item type; DECIMAL without a size is exact and unbounded. */
function itemType(call: BuiltinCall, name: string): ColumnType {
  const type = LOGICAL_TYPES.find((known) => known === name);
  if (type === undefined || type === 'NULL') throw call.fault(`${name.slice(0, 64)} is no canonical type.`);
  return type === 'DECIMAL' ? BIGDECIMAL_TYPE : { type };
}

function itemBind(call: BuiltinCall, item: Value | undefined, declared: ColumnType | null, index: number): BindPart {
  if (item === undefined) throw call.fault(`the item at index ${index} is missing.`);
  const { text, taint } = toText(call.run, item, call.expr);
  const own = taint ?? { key: null, type: authorType(item), own: null, origin: 'platform' as const, sample: false };
  if (!declared || declared.type === own.type.type) return bindOf(call.run, item, own, text, call.expr);
  const coerced = coerceText(declared, text);
  if (!coerced.ok) {
    if (own.sample)
      return { ...bindOf(call.run, item, own, text, call.expr), key: null, ...typedValue(item, own.type, text) };
    throw notAllowed(call);
  }
  const part = bindOf(call.run, item, { ...own, key: null }, text, call.expr);
  return { ...part, type: declared, value: coerced.value };
}

/** Type an author's literal is bound with. */
function authorType(item: Value): ColumnType {
  if (item.kind === 'boolean') return BOOLEAN_TYPE;
  if (item.kind === 'number') return smallestNumberType(item);
  return STRING_TYPE;
}

export const sql: BuiltinFamily = { sql_identifier: sqlIdentifier, sql_choice: sqlChoice, sql_list: sqlList };
