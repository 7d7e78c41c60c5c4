/** Facts of a log line beside its message, in wire spelling. An `error` is written with class, message, stack, causes. */
export interface LogFields {
  correlation_id?: string;
  execution_id?: string;
  pipeline_id?: string;
  node_id?: string;
  duration_ms?: number;
  error?: unknown;
  [name: string]: unknown;
}

/**
 * Where the product says what it does. The first argument is a sentence, or the name of an event such as
 * `execution.fenced`, which then also is the field `event`. Row values and bound values are never given to it.
 */
export abstract class Logger {
  abstract debug(message: string, fields?: LogFields): void;
  abstract info(message: string, fields?: LogFields): void;
  abstract warn(message: string, fields?: LogFields): void;
  abstract error(message: string, fields?: LogFields): void;
  /** The same place under another name (`logger` of the line), with fields that every line carries. */
  abstract child(name: string, fields?: LogFields): Logger;
}

/** Says nothing; for tests and programs that print their own. */
export class SilentLogger extends Logger {
  debug(): void {}
  info(): void {}
  warn(): void {}
  error(): void {}
  child(): Logger {
    return this;
  }
}
