/** Kinds of engine errors that lead to different outcomes. */
export type EngineFailureKind = 'out_of_memory' | 'interrupted' | 'missing_table' | 'conflict' | 'parser' | 'other';

/** DuckDB names the class of an error only in the first words of its text, which are fixed by its exception types. */
const KINDS: readonly (readonly [RegExp, EngineFailureKind])[] = [
  [/^Out of Memory Error:/, 'out_of_memory'],
  // What its own functions allocate without the engine's accounting.
  [/^(?:[\w ]+ Error: )?std::bad_alloc/, 'out_of_memory'],
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
    options?: ErrorOptions & { usedMb?: number | undefined },
  ) {
    super(message, options);
    this.usedMb = options?.usedMb;
  }

  /** Of an engine that is full: what it held then, as far as that is known. */
  readonly usedMb: number | undefined;
}

/** A call that was stopped because it took memory no engine was lent. */
export function overrun(grownMb: number, cause: unknown): EngineFailure {
  return new EngineFailure(
    `The statement was stopped when the server had grown by ${grownMb} MB: lists and texts it builds do not count against the engine's own limit. Build smaller lists, or unnest them.`,
    'out_of_memory',
    { cause, usedMb: grownMb },
  );
}

const UNITS: Readonly<Record<string, number>> = {
  bytes: 1 / 1024 / 1024,
  KiB: 1 / 1024,
  MiB: 1,
  GiB: 1024,
  TiB: 1024 * 1024,
};

function usedMbIn(text: string): number | undefined {
  const [, amount, unit] = /\(([\d.]+) (\w+)\/[\d.]+ \w+ used\)/.exec(text) ?? [];
  const factor = UNITS[unit ?? ''];
  return factor === undefined ? undefined : Math.round(Number(amount) * factor);
}

export function engineFailure(error: unknown): EngineFailure {
  if (error instanceof EngineFailure) return error;
  // Not instanceof: the native module's errors may come from another realm.
  const { message } = (error ?? {}) as { message?: unknown };
  const text = typeof message === 'string' ? message : String(error);
  const kind = KINDS.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
  return new EngineFailure(text, kind, { cause: error, usedMb: kind === 'out_of_memory' ? usedMbIn(text) : undefined });
}
