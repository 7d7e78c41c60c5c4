import type { LocalDate } from '@js-joda/core';
import { isDecimal, type Decimal, type TypedValue } from '#libs/typesystem';
import { CalculatorRefusal } from './calculator.js';
import { localDate } from './dates.js';

/** One value, or the items of a list input. */
export type Given = TypedValue | readonly TypedValue[];

/** The inputs of one evaluation: of their declared types, defaults applied; an optional one without a value is absent. */
export class GivenInputs {
  constructor(private readonly values: ReadonlyMap<string, Given>) {}

  date(name: string): LocalDate {
    return localDate(this.text(name));
  }

  text(name: string): string {
    const { value } = this.any(name) ?? {};
    if (typeof value === 'string') return value;
    throw new CalculatorRefusal(name, 'null', 'a value is needed');
  }

  integer(name: string): number {
    const { value } = this.any(name) ?? {};
    if (typeof value === 'number') return value;
    throw new CalculatorRefusal(name, 'null', 'a value is needed');
  }

  timestamp(name: string): bigint {
    const { value } = this.any(name) ?? {};
    if (typeof value === 'bigint') return value;
    throw new CalculatorRefusal(name, 'null', 'a value is needed');
  }

  decimal(name: string): Decimal {
    const { value } = this.any(name) ?? {};
    if (value !== undefined && isDecimal(value)) return value;
    throw new CalculatorRefusal(name, 'null', 'a value is needed');
  }

  any(name: string): TypedValue | undefined {
    const given = this.values.get(name);
    return given === undefined || isList(given) ? undefined : given;
  }

  list(name: string): readonly TypedValue[] {
    const given = this.values.get(name);
    return given !== undefined && isList(given) ? given : [];
  }

  texts(name: string): string[] {
    return this.list(name).flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
  }
}

function isList(given: Given): given is readonly TypedValue[] {
  return Array.isArray(given);
}
