import { MAX_PARAMETERS, MAX_PRECISION, MAX_UNBOUNDED_DIGITS, PARAMETER_TYPES } from '../document/read-parameters.js';
import { contextKey, optional, REFUSED, when, wholeNumber, type Schema } from './vocabulary.js';

const declaration: Schema = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { enum: [...PARAMETER_TYPES] },
    required: optional({ type: 'boolean' }),
    default: { description: 'In the wire form of the type.' },
    description: optional({ type: 'string' }),
  },
  allOf: [
    when('type', 'DECIMAL', {
      required: ['precision'],
      properties: {
        precision: wholeNumber(1, MAX_PRECISION),
        scale: optional({
          ...wholeNumber(0, MAX_PRECISION),
          description: 'At most the precision; without it the number is approximate.',
        }),
      },
    }),
    when('type', 'BIGDECIMAL', {
      required: ['scale'],
      properties: {
        precision: optional({ ...wholeNumber(1, MAX_UNBOUNDED_DIGITS), description: 'Left out: unbounded.' }),
        scale: { ...wholeNumber(0, MAX_UNBOUNDED_DIGITS), description: 'At most the precision.' },
      },
    }),
    {
      if: { required: ['required'], properties: { required: { const: true } } },
      then: { properties: { default: REFUSED } },
    },
  ],
};

/** `parameters` (contract 01 §3.1). */
export const parameters: Schema = {
  type: 'object',
  maxProperties: MAX_PARAMETERS,
  propertyNames: contextKey,
  additionalProperties: optional(declaration),
};
