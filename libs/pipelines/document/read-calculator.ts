import { findCalculator, isRequired, isSingle, outputType, readLiteral, referenceOf } from '#libs/calculators';
import type { Calculator, CalculatorInput } from '#libs/calculators';
import type { JsonValue } from '#libs/kernel';
import { reflected } from '#libs/templates';
import { isContextKey, quoteForMessage } from '#libs/typesystem';
import { isReservedName } from './names.js';
import type { ObjectReader } from './object-reader.js';
import type { CalculatorKey, CalculatorNode } from './pipeline-document.js';

const SQL_FIELDS = ['source', 'template', 'output'] as const;

/** A reference to a Context key inside the inputs, with the place it stands at. */
export interface InputReference {
  input: CalculatorInput;
  key: string;
  path: string;
}

/** The calculator fields of a node as far as they could be read. */
export interface ReadCalculator {
  /** Undefined when the kind is missing or unknown: complained about already. */
  calculator: Calculator | undefined;
  inputs: ReadonlyMap<string, JsonValue>;
  references: readonly InputReference[];
  /** Keys with good names, each with the place that gives it. */
  outputs: readonly (CalculatorKey & { path: string })[];
}

/** Reads `kind`, `inputs`, `context_key` and `context_keys` (contract 01 §7.1), with all that follows from the kind alone. */
export function readCalculator(reader: ObjectReader): ReadCalculator {
  refuseSqlFields(reader);
  const kind = reader.value('kind');
  const inputs = readInputs(reader);
  const missing = [...(typeof kind === 'string' ? [] : ['kind']), ...(inputs ? [] : ['inputs'])];
  if (missing.length > 0) {
    reader.notes.fail(
      'pipeline.validation.calculator_node_incomplete',
      reader.path,
      `A CALCULATOR node needs ${missing.map((field) => `"${field}"`).join(' and ')}.`,
      { missing },
    );
  }
  const calculator = typeof kind === 'string' ? knownKind(reader, kind) : undefined;
  const given = inputs ?? new Map<string, JsonValue>();
  const references = calculator && inputs ? judgeInputs(reader, calculator, inputs) : [];
  return { calculator, inputs: given, references, outputs: readOutputs(reader, calculator, given) };
}

export function completeCalculator(
  read: ReadCalculator,
): Pick<CalculatorNode, 'calculator' | 'inputs' | 'outputs'> | undefined {
  const { calculator, inputs } = read;
  if (!calculator) return undefined;
  return { calculator, inputs, outputs: read.outputs.map(({ name, key, type }) => ({ name, key, type })) };
}

function refuseSqlFields(reader: ObjectReader): void {
  const fields = SQL_FIELDS.filter((key) => reader.peek(key) !== undefined);
  if (fields.length === 0) return;
  reader.notes.fail(
    'pipeline.validation.calculator_node_has_sql_fields',
    reader.at(fields[0]!),
    `A CALCULATOR node runs no SQL: drop ${fields.map((key) => `"${key}"`).join(', ')}.`,
    { fields },
  );
}

/** The members as written; a null counts as absent. */
function readInputs(reader: ObjectReader): Map<string, JsonValue> | undefined {
  const section = reader.child('inputs');
  if (!section) return undefined;
  const inputs = new Map<string, JsonValue>();
  for (const name of section.keys()) {
    const value = section.value(name);
    if (value !== undefined) inputs.set(name, value);
  }
  return inputs;
}

function knownKind(reader: ObjectReader, kind: string): Calculator | undefined {
  const calculator = findCalculator(kind);
  if (!calculator) {
    reader.notes.fail(
      'pipeline.validation.calculator_unknown',
      reader.at('kind'),
      `There is no calculator ${quoteForMessage(kind)}: GET /api/v1/calculators lists them.`,
      { kind: reflected(kind) },
    );
  }
  return calculator;
}

/** Judges the inputs by the kind; references are left to whoever knows the Context. */
function judgeInputs(
  reader: ObjectReader,
  calculator: Calculator,
  inputs: ReadonlyMap<string, JsonValue>,
): InputReference[] {
  const { notes } = reader;
  const { kind } = calculator;
  const references: InputReference[] = [];
  const failuresBefore = notes.count;
  for (const name of inputs.keys()) {
    if (calculator.inputs.some((input) => input.name === name)) continue;
    notes.fail(
      'pipeline.validation.calculator_input_unknown',
      `${reader.at('inputs')}.${reflected(name)}`,
      `"${kind}" has no input ${quoteForMessage(name)}. It takes: ${calculator.inputs.map((input) => input.name).join(', ')}.`,
      { reason: 'input', kind, input: reflected(name) },
    );
  }
  for (const input of calculator.inputs) {
    const path = `${reader.at('inputs')}.${input.name}`;
    const value = inputs.get(input.name);
    if (value !== undefined) judgeValue(reader, calculator, input, value, path, references);
    else if (isRequired(input)) {
      notes.fail(
        'pipeline.validation.calculator_input_missing',
        path,
        `"${kind}" needs "${input.name}": ${input.about}`,
        { kind, input: input.name, expected: input.type },
      );
    }
  }
  const joint = notes.count === failuresBefore ? calculator.jointDefect?.(inputs) : undefined;
  if (joint) mismatch(reader, calculator, joint.input, `${reader.at('inputs')}.${joint.input}`, joint.message);
  return references;
}

function judgeValue(
  reader: ObjectReader,
  calculator: Calculator,
  input: CalculatorInput,
  value: JsonValue,
  path: string,
  references: InputReference[],
): void {
  if (!input.list) return judgeItem(reader, calculator, input, value, path, references);
  if (referenceOf(value) !== undefined) return judgeItem(reader, calculator, input, value, path, references);
  if (!Array.isArray(value)) {
    return mismatch(reader, calculator, input.name, path, 'expected an array, or one reference such as "$key"');
  }
  for (const [index, item] of value.entries()) {
    if (reader.notes.isFull) return;
    judgeItem(reader, calculator, input, item, `${path}[${index}]`, references);
  }
}

function judgeItem(
  reader: ObjectReader,
  calculator: Calculator,
  input: CalculatorInput,
  json: JsonValue,
  path: string,
  references: InputReference[],
): void {
  const key = referenceOf(json);
  if (key !== undefined) {
    references.push({ input, key, path });
    return;
  }
  const read = readLiteral(input, json);
  if (!read.ok) mismatch(reader, calculator, input.name, path, read.message);
}

function mismatch(reader: ObjectReader, { kind }: Calculator, input: string, path: string, message: string): void {
  reader.notes.fail(
    'pipeline.validation.calculator_input_type_mismatch',
    path,
    `"${input}" of "${kind}": ${message}.`,
    { kind, input, reason: 'literal' },
  );
}

function readOutputs(
  reader: ObjectReader,
  calculator: Calculator | undefined,
  inputs: ReadonlyMap<string, JsonValue>,
): ReadCalculator['outputs'] {
  const single = reader.value('context_key');
  const several = reader.child('context_keys');
  const shape = shapeDefect(single !== undefined, several !== undefined, calculator);
  if (shape) {
    reader.notes.fail(
      'pipeline.validation.calculator_output_shape_mismatch',
      reader.at(single === undefined && several ? 'context_keys' : 'context_key'),
      shape.message,
      { reason: shape.reason, ...(calculator ? { outputs: calculator.outputs.map(({ name }) => name) } : {}) },
    );
  }
  const named: [name: string, key: JsonValue, path: string][] = [];
  if (single !== undefined) named.push([calculator?.outputs[0]?.name ?? '', single, reader.at('context_key')]);
  for (const name of several?.keys() ?? []) {
    const key = several!.value(name);
    if (key !== undefined) named.push([name, key, several!.at(name)]);
  }
  if (calculator && several && !shape)
    judgeOutputNames(
      several,
      calculator,
      named.map(([name]) => name),
    );
  return named.flatMap(([name, key, path]) => {
    if (!isKeyName(reader, key, path)) return [];
    const output = calculator?.outputs.find((candidate) => candidate.name === name);
    return [{ name, key, path, type: calculator && output && outputType(calculator, output, inputs) }];
  });
}

interface ShapeDefect {
  reason: 'both_fields' | 'neither_field' | 'single_output_kind' | 'multi_output_kind';
  message: string;
}

function shapeDefect(single: boolean, several: boolean, calculator: Calculator | undefined): ShapeDefect | undefined {
  if (single && several) return { reason: 'both_fields', message: 'Give "context_key" or "context_keys", not both.' };
  if (!single && !several) {
    const field = calculator && !isSingle(calculator) ? '"context_keys"' : '"context_key"';
    return { reason: 'neither_field', message: `Say in ${field} under which name the value is found.` };
  }
  if (!calculator || single === isSingle(calculator)) return undefined;
  const names = calculator.outputs.map(({ name }) => `"${name}"`).join(' and ');
  return single
    ? { reason: 'multi_output_kind', message: `"${calculator.kind}" has ${names}: name each in "context_keys".` }
    : { reason: 'single_output_kind', message: `"${calculator.kind}" has one output: name it in "context_key".` };
}

function judgeOutputNames(several: ObjectReader, { kind, outputs }: Calculator, given: readonly string[]): void {
  const names = outputs.map(({ name }) => name);
  for (const name of given) {
    if (names.includes(name)) continue;
    several.notes.fail(
      'pipeline.validation.calculator_output_unknown',
      several.at(name),
      `"${kind}" has no output ${quoteForMessage(name)}; it has ${names.join(', ')}.`,
      { output: reflected(name), outputs: names },
    );
  }
  const missing = names.filter((name) => !given.includes(name));
  if (missing.length === 0) return;
  several.notes.fail(
    'pipeline.validation.calculator_outputs_incomplete',
    several.path,
    `Name every output: ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing.`,
    { missing },
  );
}

function isKeyName(reader: ObjectReader, key: JsonValue, path: string): key is string {
  if (typeof key === 'string' && isContextKey(key) && !isReservedName(key)) return true;
  const shown = typeof key === 'string' ? quoteForMessage(key) : 'This';
  reader.notes.fail(
    'pipeline.validation.calculator_output_name_invalid',
    path,
    `${shown} is no context key: use [a-z_][a-z0-9_]{0,62}, not between double underscores.`,
    typeof key === 'string' ? { key: reflected(key) } : {},
  );
  return false;
}
