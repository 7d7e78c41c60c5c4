import type { CanonicalValue, TypedValue } from '../canonical-type.js';

/** What goes to the driver. Exact numbers and times travel as text or bigint, never as a double. */
export type DriverValue = null | number | bigint | string | Uint8Array;

/** How one typed value is sent: SQL around its placeholder, the driver's type name, and the value itself. */
export interface BoundValue {
  /** `placeholder` is what the dialect writes for the value: `$1`, `?`, `@dp_1`, `:dp_1`. */
  sql(placeholder: string): string;
  driverType: string;
  value: DriverValue;
}

/** One dialect's row of the binding table (contract 01 §4.4). */
export interface BindDialect {
  /** Text of the n-th placeholder, from 1. */
  placeholder(n: number): string;
  /** Equal names share one placeholder; positional dialects repeat the value. */
  numbered: boolean;
  maxBinds: number;
  bind(value: TypedValue): BoundValue;
}

export function plain(driverType: string, value: DriverValue): BoundValue {
  return { sql: (placeholder) => placeholder, driverType, value };
}

export function cast(sqlType: string, value: DriverValue, driverType: string = sqlType): BoundValue {
  return { sql: (placeholder) => `CAST(${placeholder} AS ${sqlType})`, driverType, value };
}

/** NULL stays NULL; anything else takes its form. */
export function unlessNull<Form>(value: CanonicalValue, form: () => Form): Form | null {
  return value === null ? null : form();
}
