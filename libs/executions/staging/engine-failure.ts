/** Kinds of engine errors that lead to different outcomes. */
export type EngineFailureKind = 'out_of_memory' | 'interrupted' | 'missing_table' | 'conflict' | 'parser' | 'other';

/** DuckDB names the class of an error only in the first words of its text, which are fixed by its exception types. */
const KINDS: readonly (readonly [RegExp, EngineFailureKind])[] = [
  [/^Out of Memory Error:/, 'out_of_memory'],
  [/^INTERRUPT Error:/, 'interrupted'],
  [/^Catalog Error: Table with name .* already exists/, 'conflict'],
  [/^Catalog Error:/, 'missing_table'],
  [/^(?:Failed to extract statements: )?(?:Parser|Syntax) Error:/, 'parser'],
];

/** A native engine call that failed. The message is the engine's own; it may quote values, so it is redacted before use. */
export class EngineFailure extends Error {
  override readonly name = 'EngineFailure';

  constructor(
    message: string,
    readonly kind: EngineFailureKind,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function engineFailure(error: unknown): EngineFailure {
  if (error instanceof EngineFailure) return error;
  // Not instanceof: the native module's errors may come from another realm.
  const { message } = (error ?? {}) as { message?: unknown };
  const text = typeof message === 'string' ? message : String(error);
  const kind = KINDS.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
  return new EngineFailure(text, kind, { cause: error });
}
