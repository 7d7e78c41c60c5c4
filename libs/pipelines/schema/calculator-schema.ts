import { CALCULATORS, isRequired, isSingle, type Calculator, type CalculatorInput } from '#libs/calculators';
import { contextKey, optional, refused, REFUSED, scalar, when, type Schema } from './vocabulary.js';

const REFERENCE: Schema = { type: 'string', pattern: '^\\$[\\s\\S]' };

/** What a CALCULATOR node has besides what every node has (contract 01 §7.1). */
export const calculatorNode: Schema = {
  required: ['kind', 'inputs'],
  properties: {
    kind: { enum: CALCULATORS.map(({ kind }) => kind) },
    inputs: { type: 'object' },
    ...refused('source', 'template', 'output'),
  },
  allOf: CALCULATORS.map((calculator) => when('kind', calculator.kind, ofKind(calculator))),
};

function ofKind(calculator: Calculator): Schema {
  const { about, inputs } = calculator;
  return {
    description: about,
    required: [isSingle(calculator) ? 'context_key' : 'context_keys'],
    properties: {
      inputs: {
        type: 'object',
        required: inputs.filter(isRequired).map(({ name }) => name),
        properties: Object.fromEntries(inputs.map((input) => [input.name, inputSchema(input)])),
        additionalProperties: REFUSED,
      },
      ...outputFields(calculator),
    },
  };
}

function outputFields(calculator: Calculator): Record<string, Schema> {
  if (isSingle(calculator)) return { context_key: contextKey, context_keys: REFUSED };
  const names = calculator.outputs.map(({ name }) => name);
  const context_keys = {
    type: 'object',
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, contextKey])),
    additionalProperties: REFUSED,
  };
  return { context_key: REFUSED, context_keys };
}

/** A literal's exact form is judged by its type on the server; the schema knows the words and the shape. */
function inputSchema(input: CalculatorInput): Schema {
  const literal = input.allowed ? { enum: input.allowed } : ofType(input);
  const item = { anyOf: [literal, REFERENCE] };
  const value = input.list ? { anyOf: [{ type: 'array', items: item }, REFERENCE] } : item;
  return { description: input.about, ...(isRequired(input) ? value : optional(value)) };
}

function ofType({ type }: CalculatorInput): Schema {
  if (type === 'ANY') return scalar;
  return type === 'DECIMAL' ? { type: 'number' } : { type: ['string', 'number', 'boolean'] };
}
