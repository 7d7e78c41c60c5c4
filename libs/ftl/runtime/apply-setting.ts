import { formatNumber } from '../format/number-format.js';
import { ONE } from '../decimal.js';
import { formatDate } from '../dates/format-date.js';
import type { Expr } from '../syntax/nodes.js';
import { needText } from './coerce.js';
import type { Interpretation } from './interpretation.js';
import { parseZone } from './settings.js';

const DATE_SETTINGS = {
  date_format: 'dateFormat',
  time_format: 'timeFormat',
  datetime_format: 'datetimeFormat',
} as const;

/** `<#setting name=value>` for the names of contract 05 §4.2; any other name or value is a fault. */
export function applySetting(run: Interpretation, spelling: string, value: Expr): void {
  const name = spelling.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const { text, taint } = needText(run, value);
  if (taint) throw run.fault(value, 'A setting cannot come from a run-time value.');
  const refused = (): Error => run.fault(value, `The setting ${name.slice(0, 64)} does not take this value.`);
  switch (name) {
    case 'number_format':
      if (formatNumber(ONE, text) === null) throw refused();
      run.settings.numberFormat = text === '' ? 'plain' : text;
      return;
    case 'boolean_format':
      if (text !== 'c' && text !== 'true,false') throw refused();
      return;
    case 'date_format':
    case 'time_format':
    case 'datetime_format':
      if (formatDate({ form: 'datetime', micros: 0n }, text, 0) === null) throw refused();
      run.settings[DATE_SETTINGS[name]] = text;
      return;
    case 'time_zone': {
      const minutes = parseZone(text);
      if (minutes === null) throw refused();
      run.settings.zoneMinutes = minutes;
      return;
    }
    case 'locale':
      if (text !== 'en_US') throw refused();
      return;
    default:
      throw run.fault(value, `Unknown setting ${name.slice(0, 64)}.`);
  }
}
