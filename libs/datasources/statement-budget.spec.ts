import { describe, expect, it } from '@jest/globals';

import { statementSecondsOf } from './statement-budget.js';

describe('how long a statement may take by its datasource', () => {
  it('is its own limit, else that of its dialect, else nothing of its own', () => {
    expect(statementSecondsOf({ queryTimeoutSeconds: 7, dialect: 'LAKE' })).toBe(7);
    expect(statementSecondsOf({ queryTimeoutSeconds: null, dialect: 'LAKE' })).toBe(180);
    expect(statementSecondsOf({ queryTimeoutSeconds: null, dialect: 'DUCKDB' })).toBeNull();
  });

  it('is a day at the most, as a node is: a stored number of years overflows no clock', () => {
    expect(statementSecondsOf({ queryTimeoutSeconds: 86_399, dialect: 'POSTGRES' })).toBe(86_399);
    expect(statementSecondsOf({ queryTimeoutSeconds: 2_147_483_647, dialect: 'POSTGRES' })).toBe(86_400);
  });
});
