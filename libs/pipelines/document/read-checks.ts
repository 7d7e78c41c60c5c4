import { isExactNumber, isJsonObject, type JsonObject, type JsonValue } from '#libs/kernel';
import { coerceJson, compareDecimals, type Decimal, parseNumberToken } from '#libs/typesystem';
import { reflected } from '#libs/templates';
import type { CheckDeclaration, Expectation } from './check-declaration.js';
import { isIdentifier, isReservedName } from './names.js';
import { integerToken, ObjectReader } from './object-reader.js';
import { declaredType, TEMPDB, type ParameterDeclaration } from './pipeline-document.js';

export const MAX_CHECKS = 20;
export const MAX_NAME_CHARS = 200;
export const PLAIN_DECIMAL = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;
export const FTL = /\$\{|<#|<@/;
const ZERO: Decimal = { unscaled: 0n, scale: 0 };

type Declarations = ReadonlyMap<string, ParameterDeclaration>;

/** A check as far as it could be read; what needs the registries is judged later. */
export type ReadCheck = Partial<CheckDeclaration> & { path: string };

/** Reads `checks` (contract 01 §9). Every defect is `check_invalid` with a path. */
export function readChecks(root: ObjectReader, declared: Declarations): ReadCheck[] {
  const list = root.list('checks');
  if (list === undefined || list.length === 0) return [];
  if (list.length > MAX_CHECKS) {
    root.notes.fail(
      'pipeline.validation.check_invalid',
      'checks',
      `A pipeline has at most ${MAX_CHECKS} checks; this one has ${list.length}.`,
      { max: MAX_CHECKS, found: list.length },
    );
  }
  const stored: JsonValue[] = [];
  const seen = new Set<string>();
  const checks = list.slice(0, MAX_CHECKS).flatMap((entry, index) => {
    const path = `checks[${index}]`;
    if (!isJsonObject(entry)) {
      root.notes.fail(
        'pipeline.validation.check_invalid',
        path,
        'A check is an object of id, name, datasource, sql and expected.',
      );
      return [];
    }
    const reader = new ObjectReader(path, entry, root.notes);
    const check = readCheck(reader, declared, seen);
    stored.push(reader.stored);
    return [check];
  });
  root.stored.checks = stored;
  return checks;
}

/** The declaration of a check in which nothing is missing. */
export function completeCheck(check: ReadCheck): CheckDeclaration | undefined {
  const { id, name, datasource, sql, expected, expectedJson, parameters } = check;
  if (id === undefined || name === undefined || datasource === undefined || sql === undefined) return undefined;
  if (expected === undefined || expectedJson === undefined || parameters === undefined) return undefined;
  return { id, name, datasource, sql, expected, expectedJson, parameters };
}

function readCheck(reader: ObjectReader, declared: Declarations, seen: Set<string>): ReadCheck {
  const id = checkedText(reader, 'id', '1 to 63 of a-z, 0-9 and _, not reserved', (text) => {
    return isIdentifier(text) && !isReservedName(text);
  });
  if (id !== undefined && seen.has(id)) invalid(reader, 'id', `Another check is called "${id}": give each its own id.`);
  if (id !== undefined) seen.add(id);
  const name = checkedText(reader, 'name', `1 to ${MAX_NAME_CHARS} characters, not blank`, (text) => {
    return text.trim() !== '' && text.length <= MAX_NAME_CHARS;
  });
  const datasource = checkedText(reader, 'datasource', 'the name of a datasource, not tempdb', (text) => {
    return text !== '' && text !== TEMPDB;
  });
  const sql = checkedText(reader, 'sql', 'one SELECT without "${", "<#" or "<@"; bind parameters as :name', (text) => {
    return text.trim() !== '' && !FTL.test(text);
  });
  const expected = readExpected(reader);
  const parameters = readValues(reader, declared);
  reader.finish();
  return {
    path: reader.path,
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { name }),
    ...(datasource === undefined ? {} : { datasource }),
    ...(sql === undefined ? {} : { sql }),
    ...expected,
    parameters,
  };
}

function readExpected(reader: ObjectReader): Pick<CheckDeclaration, 'expected' | 'expectedJson'> | undefined {
  const value = reader.peek('expected');
  if (!isJsonObject(value)) {
    invalid(reader, 'expected', '"expected" must be an object with "kind" value, range or rows.');
    return undefined;
  }
  const nested = new ObjectReader(reader.at('expected'), value, reader.notes);
  reader.stored.expected = nested.stored;
  const expected = expectationOf(nested);
  nested.finish();
  return expected && { expected, expectedJson: nested.stored };
}

function expectationOf(reader: ObjectReader): Expectation | undefined {
  const kind = reader.value('kind');
  if (kind === 'value') {
    const value = exactNumber(reader, 'value');
    const tolerance = reader.has('tolerance') ? exactNumber(reader, 'tolerance') : ZERO;
    if (tolerance && compareDecimals(tolerance, ZERO) < 0) {
      invalid(reader, 'tolerance', '"tolerance" is an absolute distance: 0 or more.');
      return undefined;
    }
    return value && tolerance && { kind, value, tolerance };
  }
  if (kind === 'range') {
    const min = exactNumber(reader, 'min');
    const max = exactNumber(reader, 'max');
    if (!min || !max) return undefined;
    if (compareDecimals(min, max) <= 0) return { kind, min, max };
    invalid(reader, 'min', '"min" must not be greater than "max".');
    return undefined;
  }
  if (kind === 'rows') {
    const rows = integerToken(reader.value('rows'));
    if (rows !== undefined && rows >= 0) return { kind, rows };
    invalid(reader, 'rows', '"rows" must be a whole number, 0 or more.');
    return undefined;
  }
  invalid(reader, 'kind', '"kind" must be "value", "range" or "rows".');
  return undefined;
}

/** A JSON number or a plain decimal text, kept to its last digit. */
function exactNumber(reader: ObjectReader, key: string): Decimal | undefined {
  const written = reader.value(key);
  const text = isExactNumber(written)
    ? written.value
    : typeof written === 'string' && PLAIN_DECIMAL.test(written)
      ? written
      : undefined;
  const number = text === undefined ? null : parseNumberToken(text);
  if (number !== null) return number;
  invalid(reader, key, `"${key}" must be a number, or a plain decimal text such as "74.62".`);
  return undefined;
}

function readValues(reader: ObjectReader, declared: Declarations): JsonObject {
  const values = reader.peek('parameters');
  if (values === undefined) return {};
  if (!isJsonObject(values)) {
    invalid(reader, 'parameters', '"parameters" must be an object of names and values.');
    return {};
  }
  const kept = Object.create(null) as JsonObject;
  reader.stored.parameters = kept;
  for (const [name, value] of Object.entries(values)) {
    const path = `parameters.${reflected(name)}`;
    const declaration = declared.get(name);
    if (!declaration) invalid(reader, path, `The pipeline declares no parameter "${reflected(name)}".`);
    else if (value !== null) {
      const coerced = coerceJson(declaredType(declaration), value);
      if (coerced.ok) kept[name] = value;
      else invalid(reader, path, `The value does not fit ${declaration.type}: ${coerced.message}.`);
    }
  }
  return kept;
}

function checkedText(
  reader: ObjectReader,
  key: string,
  expected: string,
  fits: (text: string) => boolean,
): string | undefined {
  const value = reader.value(key);
  if (typeof value === 'string' && fits(value)) return value;
  invalid(reader, key, `"${key}" must be ${expected}.`);
  return undefined;
}

function invalid(reader: ObjectReader, key: string, message: string): void {
  reader.notes.fail('pipeline.validation.check_invalid', `${reader.path}.${key}`, message);
}
