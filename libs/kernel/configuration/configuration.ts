import type { ConfigurationKey, ConfigurationValue } from './table.js';

/** `embedded`: no database was given, so this one process brings its own. `external`: database and Redis are shared. */
export type ConfigurationMode = 'embedded' | 'external';

/** Some values, by key. */
export type ConfigurationValues = { [K in ConfigurationKey]?: ConfigurationValue<K> };

/** A configuration on its way to another thread. */
export interface CarriedConfiguration {
  mode: ConfigurationMode;
  values: ReadonlyMap<ConfigurationKey, unknown>;
}

/** The accepted configuration: every key has its final value. Prints as nothing, for it holds secrets. */
export class Configuration {
  readonly mode: ConfigurationMode;
  /** Sentences for the log at start: old names, ignored variables. */
  readonly warnings: readonly string[];
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(mode: ConfigurationMode, values: ReadonlyMap<ConfigurationKey, unknown>, warnings: readonly string[]) {
    this.mode = mode;
    this.warnings = warnings;
    this.#values = values;
  }

  /** The value of a key, typed by the table. A key without default that nobody set is undefined. */
  get<const K extends ConfigurationKey>(key: K): ConfigurationValue<K> {
    return this.#values.get(key) as ConfigurationValue<K>;
  }

  /** The same in a form that crosses to a thread of this process, with what is a share of it there. Holds secrets. */
  carried(shares: ConfigurationValues): CarriedConfiguration {
    const values = new Map([...this.#values, ...Object.entries(shares)]) as Map<ConfigurationKey, unknown>;
    return { mode: this.mode, values };
  }

  /** What was carried, in the thread. */
  static of({ mode, values }: CarriedConfiguration): Configuration {
    return new Configuration(mode, values, []);
  }

  /** The same configuration with values the server made itself (embedded mode). What an operator set stays. */
  withGenerated(generated: ConfigurationValues): Configuration {
    const values = new Map(this.#values) as Map<ConfigurationKey, unknown>;
    for (const [key, value] of Object.entries(generated) as [ConfigurationKey, unknown][]) {
      if (values.get(key) === undefined) values.set(key, value);
    }
    return new Configuration(this.mode, values, this.warnings);
  }
}
