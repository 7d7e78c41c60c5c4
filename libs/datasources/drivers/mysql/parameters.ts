import type { BoundStatement } from '../driver.js';
import type { TypedParameters } from './client.js';

/** Values with the protocol type each is bound as (01 §4.4), so that the server never guesses. */
export function typedValues({ values, driverTypes }: BoundStatement, types: TypedParameters): unknown[] {
  return values.map((value, index) => {
    const given = value instanceof Uint8Array && !Buffer.isBuffer(value) ? Buffer.from(value) : value;
    const type = types[driverTypes?.[index] ?? guessed(given)];
    if (!type) throw new TypeError(`no protocol type ${driverTypes?.[index] ?? ''}`);
    return type(given ?? null);
  });
}

/** For the driver's own catalog queries, whose values are names and numbers. */
function guessed(value: unknown): string {
  return typeof value === 'number' || typeof value === 'bigint' ? 'LONGLONG' : 'VAR_STRING';
}
