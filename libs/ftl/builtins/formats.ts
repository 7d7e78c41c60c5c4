import { formatDate } from '../dates/format-date.js';
import { DAY } from '../dates/iso-form.js';
import { parseDate } from '../dates/parse-date.js';
import { formatNumber } from '../format/number-format.js';
import { fragmentFault, toIndex, toText } from '../runtime/coerce.js';
import { patterned } from '../runtime/standing-off.js';
import { derived } from '../runtime/taint.js';
import { cut, cutRange } from '../runtime/slices.js';
import type { DateForm, Value } from '../runtime/values.js';
import { describe } from '../runtime/values.js';
import type { Builtin, BuiltinCall, BuiltinFamily } from './builtin-call.js';

/** `?string`, `?string("pattern")`, `?string.number`, `?string("yes", "no")`. */
function asString(call: BuiltinCall): Value {
  const value = call.target();
  const { run } = call;
  if (call.expr.args === null) {
    const text = toText(run, value, call.expr.target);
    return value.kind === 'string' ? value : call.string(text.text, text);
  }
  switch (value.kind) {
    case 'number': {
      call.arity(1);
      const format = call.textArgument(0);
      const text = formatNumber(value.number, format.text);
      if (text === null) throw call.fault('the pattern is not supported.');
      return call.string(patterned(text, format.text), value, format);
    }
    case 'boolean':
      call.arity(2);
      return chosen(call, value.truth ? 0 : 1);
    case 'date': {
      call.arity(1);
      const format = call.textArgument(0);
      const text = formatDate(value, format.text, run.settings.zone);
      if (text === null) throw call.fault('the pattern has a letter that is not supported.');
      return call.string(patterned(text, format.text), value, format);
    }
    case 'string': {
      if (!call.expr.keyed) throw call.fault('a string takes no format.');
      const key = call.value(0);
      if (key.kind === 'sequence' && key.lazy) return cutRange(run, value, key, call.argument(0));
      const at = toIndex(run, key, call.argument(0));
      if (at < 0 || at >= value.text.length) throw call.fault('the index is outside of the string.');
      return cut(value, at, at + 1);
    }
    case 'fragment':
      throw fragmentFault(run, call.expr.target);
    default:
      throw run.fault(call.expr.target, `?string expected a scalar, found ${describe(value)}.`);
  }
}

/** A choice carries the taint of what was chosen, not of the test. */
function chosen(call: BuiltinCall, index: number): Value {
  const text = toText(call.run, call.value(index), call.argument(index));
  return call.string(text.text, text);
}

function parsed(form: DateForm): Builtin {
  return (call) => {
    const value = call.target();
    if (value.kind === 'date') return narrowed(call, value, form);
    const source = toText(call.run, value, call.expr.target);
    const { dateFormat, timeFormat, datetimeFormat, zone } = call.run.settings;
    const preset = form === 'date' ? dateFormat : form === 'time' ? timeFormat : datetimeFormat;
    const pattern = call.count > 0 ? call.textArgument(0).text : preset;
    const micros = parseDate(source.text, form, pattern, zone);
    if (micros === null) throw call.fault(`the text is no ${form} of this pattern.`);
    const type = form === 'date' ? 'DATE' : form === 'time' ? 'TIME' : 'TIMESTAMP';
    return { kind: 'date', form, micros, taint: derived({ type }, source.taint) };
  };
}

function narrowed(call: BuiltinCall, value: Value & { kind: 'date' }, form: DateForm): Value {
  if (value.form === form) return value;
  if (value.form !== 'datetime') throw call.fault(`a ${value.form} cannot become a ${form}.`);
  const local = value.micros + BigInt(call.run.settings.zone.offsetAt(value.micros)) * 60_000_000n;
  const ofDay = ((local % DAY) + DAY) % DAY;
  const taint = derived({ type: form === 'date' ? 'DATE' : 'TIME' }, value.taint);
  return { kind: 'date', form, micros: form === 'time' ? ofDay : local - ofDay, taint };
}

export const formats: BuiltinFamily = {
  string: asString,
  date: parsed('date'),
  time: parsed('time'),
  datetime: parsed('datetime'),
};
