import { FTL, MAX_CHECKS, MAX_NAME_CHARS, PLAIN_DECIMAL } from '../document/read-checks.js';
import { TEMPDB } from '../document/pipeline-document.js';
import { identifier, notBlank, optional, when, wholeNumber, type Schema } from './vocabulary.js';

/** Kept to its last digit, so a text is as good as a number. */
const exactNumber: Schema = { anyOf: [{ type: 'number' }, { type: 'string', pattern: PLAIN_DECIMAL.source }] };

const expected: Schema = {
  type: 'object',
  required: ['kind'],
  properties: { kind: { enum: ['value', 'range', 'rows'] } },
  allOf: [
    when('kind', 'value', {
      required: ['value'],
      properties: {
        value: exactNumber,
        tolerance: optional({ ...exactNumber, description: 'Absolute; 0 when left out.' }),
      },
    }),
    when('kind', 'range', { required: ['min', 'max'], properties: { min: exactNumber, max: exactNumber } }),
    when('kind', 'rows', { required: ['rows'], properties: { rows: wholeNumber(0) } }),
  ],
};

/** `checks` (contract 01 §9). */
export const checks: Schema = {
  type: 'array',
  maxItems: MAX_CHECKS,
  items: {
    type: 'object',
    required: ['id', 'name', 'datasource', 'sql', 'expected'],
    properties: {
      id: identifier,
      name: { ...notBlank, maxLength: MAX_NAME_CHARS },
      datasource: { type: 'string', minLength: 1, not: { const: TEMPDB } },
      sql: {
        ...notBlank,
        not: { pattern: FTL.source },
        description: 'One SELECT; declared parameters are bound as :name.',
      },
      expected,
      parameters: optional({ type: 'object', description: 'Values of declared parameters.' }),
    },
  },
};
