import { DriverFailure, type DriverFailureKind } from '../driver-failure.js';

/** DuckDB names the class of an error only in the first words of its text, which are fixed by its exception types. */
const KINDS: readonly (readonly [RegExp, DriverFailureKind])[] = [
  [/^INTERRUPT Error:/, 'cancelled'],
  [/^Catalog Error: Table with name .* does not exist/, 'missing_table'],
  [/^Permission Error:/, 'permission'],
  [/^(?:IO|Connection|HTTP) Error:/, 'connection'],
];

/** What does not even parse is told behind a few words of the binding's own. */
const CLASS = /^(?:Failed to extract statements: )?([A-Za-z]+(?: [A-Za-z]+)*) Error:/;

/** A native call that failed, with the engine's own text. */
export function duckdbFailure(error: unknown): DriverFailure {
  if (error instanceof DriverFailure) return error;
  // Not instanceof: the native module's errors may come from another realm.
  const { message } = (error ?? {}) as { message?: unknown };
  const text = typeof message === 'string' ? message : String(error);
  const kind = KINDS.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
  return new DriverFailure(kind, text, {
    driverCode: CLASS.exec(text)?.[1],
    cause: error,
  });
}
