import type { LogDestination } from './destination.js';

/** Turns the JSON lines of the log into lines for reading; a stack follows on lines of its own. */
export class TextLines implements LogDestination {
  readonly #destination: LogDestination;

  constructor(destination: LogDestination) {
    this.#destination = destination;
  }

  write(line: string): void {
    const { '@timestamp': at, level, logger, message, error, ...fields } = JSON.parse(line) as Record<string, unknown>;
    const { stack, ...failure } = isRecord(error) ? error : {};
    const facts = Object.entries({ ...fields, ...(isRecord(error) ? { error: failure } : { error }) })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join('');
    const head = `${String(at)} ${String(level).toUpperCase().padEnd(5)} ${String(logger)}: ${String(message)}`;
    this.#destination.write(`${head}${facts}\n${typeof stack === 'string' ? `${stack}\n` : ''}`);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
