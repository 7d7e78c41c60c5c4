import { writeJson, type JsonValue } from '#libs/kernel/pure';
import { literalJson, RESULT, type Calculator, type CalculatorExample } from './calculator.js';
import { CALCULATORS } from './catalogue.js';

/** One kind as the reference shows it, on every door. */
export interface CalculatorReference {
  kind: string;
  description: string;
  phrases: readonly string[];
  inputs: readonly {
    name: string;
    type: string;
    list: boolean;
    required: boolean;
    default?: JsonValue;
    allowed?: readonly string[];
    description: string;
  }[];
  outputs: readonly { name: string; type: string; precision?: number; scale_from?: string }[];
  /** How a node names its output: one `context_key`, or all outputs in `context_keys`. */
  output_field: 'context_key' | 'context_keys';
  examples: readonly { node: JsonValue; outputs: JsonValue }[];
}

export function describeCalculator(calculator: Calculator): CalculatorReference {
  const { kind, about, phrases, inputs, outputs, examples } = calculator;
  return {
    kind,
    description: about,
    phrases,
    inputs: inputs.map(({ name, type, list, fallback, optional, allowed, about: description }) => ({
      name,
      type,
      list: list === true,
      required: isRequired({ fallback, optional }),
      ...(fallback === undefined ? {} : { default: literalJson(fallback) }),
      ...(allowed ? { allowed } : {}),
      description,
    })),
    outputs: outputs.map(({ name, type, precision, scaleFrom }) => ({
      name,
      type,
      ...(precision === undefined ? {} : { precision }),
      ...(scaleFrom === undefined ? {} : { scale_from: scaleFrom }),
    })),
    output_field: isSingle(calculator) ? 'context_key' : 'context_keys',
    examples: examples.map((example) => ({
      node: exampleNode(calculator, example),
      outputs: record(example.outputs),
    })),
  };
}

export function isRequired(input: Pick<Calculator['inputs'][number], 'fallback' | 'optional'>): boolean {
  return input.fallback === undefined && input.optional !== true;
}

/** Whether a node names the output in `context_key`. */
export function isSingle({ outputs }: Calculator): boolean {
  return outputs.length === 1;
}

/** A node that can be pasted into a document. */
function exampleNode(calculator: Calculator, { inputs }: CalculatorExample): JsonValue {
  const { kind, outputs } = calculator;
  const keys = record(Object.fromEntries(outputs.map(({ name }) => [name, `${kind}_${name}`])));
  return {
    id: `compute_${kind}`,
    type: 'CALCULATOR',
    kind,
    inputs: record(inputs),
    ...(isSingle(calculator) ? { context_key: `my_${kind}` } : { context_keys: keys }),
  };
}

function record(values: CalculatorExample['inputs']): Record<string, JsonValue> {
  return Object.fromEntries(Object.entries(values).map(([name, literal]) => [name, literalJson(literal)]));
}

/** The reference as a page: docs/generated/calculators.md. */
export function renderCalculatorReference(): string {
  return [
    '# Calculators',
    '',
    'Generated from the catalogue in `libs/calculators`. A CALCULATOR node computes values of the Context: `kind`, `inputs`',
    'and, for a kind with one output, `context_key`, else `context_keys` with a key for every output. An input is a literal',
    'or `"$key"`, a reference to a parameter, an organisation or platform key, or the output of a calculator that the node',
    'depends on. A null for an input that has a default means the default.',
    '',
    ...CALCULATORS.flatMap(section),
  ].join('\n');
}

function section(calculator: Calculator): string[] {
  const { kind, description, phrases, inputs, outputs, examples } = describeCalculator(calculator);
  return [
    `## ${kind}`,
    '',
    `${description} Asked for as: ${phrases.map((phrase) => `“${phrase}”`).join(', ')}.`,
    '',
    '| Input | Type | | Meaning |',
    '| --- | --- | --- | --- |',
    ...inputs.map((input) => {
      const presence = input.required
        ? 'required'
        : input.default === undefined
          ? 'optional'
          : `default \`${writeJson(input.default)}\``;
      const allowed = input.allowed ? ` One of ${input.allowed.map((word) => `\`${word}\``).join(', ')}.` : '';
      return `| \`${input.name}\` | ${input.type}${input.list ? ' list' : ''} | ${presence} | ${input.description}${allowed} |`;
    }),
    '',
    `Output: ${outputs.map((output) => outputText(output)).join(', ')}.`,
    '',
    '```jsonc',
    ...examples.map(({ node, outputs: values }) => `${writeJson(node)}\n// ${writeJson(values)}`),
    '```',
    '',
  ];
}

function outputText({ name, type, precision, scale_from }: CalculatorReference['outputs'][number]): string {
  const size = precision === undefined ? '' : `(${precision}, ${scale_from})`;
  return name === RESULT ? `${type}${size}` : `\`${name}\` ${type}${size}`;
}
