/** One reason why the configuration is not accepted. Never contains the value of a secret. */
export interface ConfigurationViolation {
  /** The key, or the variable or file that is at fault. */
  key: string;
  /** Where the value came from: a variable's or the file's name. Absent when it came from nowhere. */
  from?: string;
  problem: string;
}

/** Everything that is wrong with the configuration at once. `main` prints the message and ends with status 1. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';

  constructor(readonly violations: readonly ConfigurationViolation[]) {
    const lines = violations.map(({ key, from, problem }) => `  - ${key}${from ? ` (${from})` : ''} ${problem}`);
    super(`The configuration is not accepted:\n${lines.join('\n')}`);
  }
}
