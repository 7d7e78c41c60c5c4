import { formatNumber } from '../format/number-format.js';
import { ONE } from '../decimal.js';
import { formatDate } from '../dates/format-date.js';
import type { Expr } from '../syntax/nodes.js';
import { needText } from './coerce.js';
import type { Interpretation } from './interpretation.js';
import { UTC, zoneOf } from '../dates/zone.js';

const DATE_SETTINGS = {
  date_format: 'dateFormat',
  time_format: 'timeFormat',
  datetime_format: 'datetimeFormat',
} as const;

/** `c`, or the words for true and false with a comma between them. */
function booleanFormat(text: string): readonly [string, string] | null {
  if (text === 'c') return ['true', 'false'];
  const comma = text.indexOf(',');
  return comma < 0 ? null : [text.slice(0, comma), text.slice(comma + 1)];
}

/** `<#setting name=value>` for the names of contract 05 §4.2; any other name or value is a fault. */
export function applySetting(run: Interpretation, spelling: string, value: Expr): void {
  const name = spelling.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const { text, taint } = needText(run, value);
  if (taint) throw run.fault(value, 'A setting cannot come from a run-time value.');
  const refuse = (): never => {
    throw run.fault(value, `The setting ${name.slice(0, 64)} does not take this value.`);
  };
  switch (name) {
    case 'number_format':
      if (formatNumber(ONE, text) === null) refuse();
      run.settings.numberFormat = text;
      return;
    case 'boolean_format':
      run.settings.booleanFormat = booleanFormat(text) ?? refuse();
      return;
    case 'date_format':
    case 'time_format':
    case 'datetime_format':
      if (formatDate({ form: 'datetime', micros: 0n }, text, UTC) === null) refuse();
      run.settings[DATE_SETTINGS[name]] = text;
      return;
    case 'time_zone': {
      run.settings.zone = zoneOf(text) ?? refuse();
      return;
    }
    case 'locale':
      if (text !== 'en_US') refuse();
      return;
    default:
      throw run.fault(value, `Unknown setting ${name.slice(0, 64)}.`);
  }
}
