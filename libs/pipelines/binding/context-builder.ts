import { Injectable } from '@nestjs/common';
import { Configuration } from '#libs/kernel';
import type { ContextValue } from '#libs/ftl';
import { encodeWire, parseTimestampText, type LogicalType, type TypedValue } from '#libs/typesystem';

/** Facts fixed at the start of an execution. */
export interface ExecutionFacts {
  executionId: string;
  /** `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
  startedAt: string;
}

const ORG_KEYS = {
  org_currency_name: 'datapipelines.org.currency.name',
  org_currency_symbol: 'datapipelines.org.currency.symbol',
  org_fiscal_start_date: 'datapipelines.org.fiscal-start-date',
  org_week_start: 'datapipelines.org.week-start',
  org_timezone: 'datapipelines.org.timezone',
} as const;

/** Types of the keys below the parameters, which calculators may refer to and shadow. */
export const SURROUNDING_TYPES: ReadonlyMap<string, LogicalType> = new Map<string, LogicalType>([
  ...Object.keys(ORG_KEYS).map((key): [string, LogicalType] => [key, 'STRING']),
  ['current_date', 'DATE'],
  ['current_timestamp', 'TIMESTAMP'],
  ['execution_id', 'STRING'],
]);

/** Builds the Context of an execution from its tiers (contract 01 §3.3). No credential and no row is ever in it. */
@Injectable()
export class ContextBuilder {
  constructor(private readonly configuration: Configuration) {}

  /** Lowest tier first, so that a declared parameter shadows an organisation or platform key of its name. */
  build(values: ReadonlyMap<string, TypedValue>, facts: ExecutionFacts): Map<string, ContextValue> {
    const context = this.surroundings(facts);
    for (const [name, { type, value }] of values) context.set(name, { type, value, origin: 'parameter' });
    return context;
  }

  /** The tiers below the parameters: organisation and platform. */
  surroundings({ executionId, startedAt }: ExecutionFacts): Map<string, ContextValue> {
    const context = new Map<string, ContextValue>();
    for (const [name, key] of Object.entries(ORG_KEYS)) {
      context.set(name, { type: { type: 'STRING' }, value: this.configuration.get(key), origin: 'org' });
    }
    const zone = this.configuration.get('datapipelines.org.timezone');
    context.set('current_date', { type: { type: 'DATE' }, value: dateIn(zone, startedAt), origin: 'platform' });
    context.set('current_timestamp', {
      type: { type: 'TIMESTAMP' },
      value: parseTimestampText(startedAt),
      origin: 'platform',
    });
    context.set('execution_id', { type: { type: 'STRING' }, value: executionId, origin: 'platform' });
    return context;
  }
}

/** The Context as `parameters_json` stores it: one JSON object, each value in its wire form. */
export function encodeContext(context: ReadonlyMap<string, TypedValue>): string {
  const members = [...context].map(([name, { type, value }]) => `${JSON.stringify(name)}:${encodeWire(type, value)}`);
  return `{${members.join(',')}}`;
}

/** `YYYY-MM-DD` of an instant in a zone. */
function dateIn(zone: string, instant: string): string {
  if (zone === 'UTC') return instant.slice(0, 10);
  const parts = new Map(
    dateFormat(zone)
      .formatToParts(new Date(instant))
      .map(({ type, value }) => [type, value]),
  );
  return `${(parts.get('year') ?? '').padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}`;
}

/** By zone: making one costs more than all else a context needs, and a deployment has one zone. */
const formats = new Map<string, Intl.DateTimeFormat>();

function dateFormat(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    formats.set(zone, format);
  }
  return format;
}
