import pg from 'pg';

const { builtins, getTypeParser } = pg.types;

const TEXT_ARRAY = 1009;
const INT8_ARRAY = 1016;
const TIMESTAMPTZ_ARRAY = 1185;
const NUMERIC_ARRAY = 1231;

const UTC_STAMP = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/;

/**
 * `2026-01-02 03:04:05.6+00`, as a session in UTC prints it, to `2026-01-02T03:04:05.600000Z`. Always six digits, so
 * that stamps compare as text. `infinity` and years before Christ have no such form and stay as they are.
 */
export function utcStamp(text: string): string {
  const parts = UTC_STAMP.exec(text);
  if (!parts) return text;
  const [, day, time, fraction = ''] = parts;
  return `${day}T${time}.${fraction.padEnd(6, '0')}Z`;
}

const asText = (text: string): string => text;
/** pg's type names the scalar types only. */
const parserOf = getTypeParser as (oid: number, format?: 'text' | 'binary') => (text: string) => unknown;
const asTextArray = parserOf(TEXT_ARRAY) as (text: string) => (string | null)[];
const asStampArray = (text: string): (string | null)[] =>
  asTextArray(text).map((stamp) => (stamp === null ? null : utcStamp(stamp)));

/** Types whose values would lose digits, or their writer's spelling, in a JavaScript number, Date or object (00 §9.1). */
const parsers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, asText],
  [builtins.NUMERIC, asText],
  [builtins.JSON, asText],
  [builtins.JSONB, asText],
  [builtins.DATE, asText],
  [builtins.TIME, asText],
  [builtins.TIMESTAMP, asText],
  [builtins.TIMESTAMPTZ, utcStamp],
  [builtins.INTERVAL, asText],
  [INT8_ARRAY, asTextArray],
  [NUMERIC_ARRAY, asTextArray],
  [TIMESTAMPTZ_ARRAY, asStampArray],
]);

/** Parsers of one connection; pg's global registry stays untouched, because datasource drivers share it. */
export const rawTextTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    const parser = format === 'binary' ? undefined : parsers.get(oid);
    return parser ?? parserOf(oid, format);
  }) as typeof getTypeParser,
};
