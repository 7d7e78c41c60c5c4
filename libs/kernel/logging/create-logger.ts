import { destination as standardOutput, pino, type Logger as Pino } from 'pino';
import type { LogDestination } from './destination.js';
import { Logger, type LogFields } from './logger.js';
import { redact } from './redact.js';
import { scrub } from './scrub.js';
import { TextLines } from './text-lines.js';

export interface LoggerOptions {
  level: 'debug' | 'info' | 'warn' | 'error';
  format: 'json' | 'text';
  /** Default: standard output, written at once so that a crash loses no line. */
  destination?: LogDestination;
}

/**
 * The log of a process: one JSON object a line with `@timestamp level logger message` and the fields given
 * (contract 02 §12). Redaction happens on the way to the writer and cannot be switched off.
 */
export function createLogger(options: LoggerOptions): Logger {
  const destination = options.destination ?? standardOutput({ dest: 1, sync: true });
  const writer = pino(
    {
      level: options.level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"@timestamp":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    options.format === 'text' ? new TextLines(destination) : destination,
  );
  return new PinoLogger(writer, 'penstock', {});
}

/** Names of the line itself; a field may not write them a second time. */
const RESERVED = new Set(['@timestamp', 'level', 'logger', 'message']);

const EVENT_NAME = /^[a-z][a-z0-9_]{0,40}(\.[a-z0-9_]{1,40}){1,4}$/;

class PinoLogger extends Logger {
  readonly #writer: Pino;
  readonly #name: string;
  readonly #fields: LogFields;

  constructor(writer: Pino, name: string, fields: LogFields) {
    super();
    this.#writer = writer;
    this.#name = name;
    this.#fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    this.#write('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#write('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#write('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#write('error', message, fields);
  }

  child(name: string, fields: LogFields = {}): Logger {
    return new PinoLogger(this.#writer, name, { ...this.#fields, ...fields });
  }

  #write(level: LoggerOptions['level'], message: string, fields: LogFields | undefined): void {
    if (!this.#writer.isLevelEnabled(level)) return;
    const line: Record<string, unknown> = { logger: this.#name };
    if (EVENT_NAME.test(message)) line['event'] = message;
    for (const given of [this.#fields, fields ?? {}]) {
      for (const [name, value] of Object.entries(redact(given) as Record<string, unknown>)) {
        line[RESERVED.has(name) ? `field_${name}` : name] = value;
      }
    }
    this.#writer[level](line, scrub(message));
  }
}
