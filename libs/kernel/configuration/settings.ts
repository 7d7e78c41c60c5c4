import { EnvironmentReader, range } from './environment.js';
import { environmentName, keyDefinition, type ConfigurationKey } from './table.js';
import type { ConfigurationViolation } from './violation.js';

/** A text somebody set, and where. */
export interface Setting {
  text: string;
  from: string;
}

interface Found extends Setting {
  /** Set under an older key. */
  old: boolean;
}

/** Looks a key up under all its names: environment before file, its own name before short forms and older ones. */
export class SettingsReader {
  readonly violations: ConfigurationViolation[] = [];
  readonly warnings: string[] = [];
  readonly #environment: EnvironmentReader;
  readonly #file: ReadonlyMap<string, string>;
  readonly #fileName: string;

  constructor(environment: EnvironmentReader, file: ReadonlyMap<string, string>, fileName: string) {
    this.#environment = environment;
    this.#file = file;
    this.#fileName = fileName;
  }

  /** The setting that counts. Two names that disagree in one place are a violation; so is an older key beside the new one. */
  read(key: ConfigurationKey): Setting | undefined {
    const environment = this.#fromEnvironment(key);
    const file = this.#fromFile(key);
    const chosen = environment[0] ?? file[0];
    if (!chosen) return undefined;
    for (const other of [...environment, ...file]) {
      if (other.old) this.warnings.push(`${other.from} is the old name of ${key}`);
      const sameLayer = environment.includes(other) === environment.includes(chosen);
      if (other.text !== chosen.text && (sameLayer || other.old)) {
        this.violations.push({ key, problem: `is set to different values by ${chosen.from} and ${other.from}` });
      }
    }
    return chosen;
  }

  #fromEnvironment(key: ConfigurationKey): Found[] {
    const { aliases, secret, numbered } = keyDefinition(key);
    if (numbered) {
      return this.#numbered(numbered, (number) => this.#environment.read(`${environmentName(key)}_${number}`, secret));
    }
    const names = [
      ...[environmentName(key), ...(aliases.env ?? [])].map((name) => ({ name, old: false })),
      ...(aliases.keys ?? []).map((old) => ({ name: environmentName(old), old: true })),
    ];
    return names.flatMap(({ name, old }) => {
      const setting = this.#environment.read(name, secret);
      return setting ? [{ ...setting, old }] : [];
    });
  }

  #fromFile(key: ConfigurationKey): Found[] {
    const { aliases, numbered } = keyDefinition(key);
    if (numbered) return this.#numbered(numbered, (number) => this.#fileSetting(`${key}.${number}`));
    return [key, ...(aliases.keys ?? [])].flatMap((name) => {
      const setting = this.#fileSetting(name);
      return setting ? [{ ...setting, old: name !== key }] : [];
    });
  }

  #fileSetting(name: string): Setting | undefined {
    const text = this.#file.get(name);
    return text === undefined ? undefined : { text, from: `${name} in ${this.#fileName}` };
  }

  #numbered(bounds: { min: number; max: number }, read: (number: number) => Setting | undefined): Found[] {
    const members = range(bounds.min, bounds.max).flatMap((number) => {
      const setting = read(number);
      return setting ? [{ number, setting }] : [];
    });
    const first = members[0];
    if (!first) return [];
    const text = members.map(({ number, setting }) => `${number}=${setting.text}`).join(',');
    return [{ text, from: first.setting.from, old: false }];
  }
}
