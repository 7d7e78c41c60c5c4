/** What a text of the environment or the file came to. A problem never repeats a secret. */
export type Parsed<T> = { value: T } | { problem: string };

/** What a default that depends on the surroundings may look at. */
export interface DefaultFacts {
  embedded: boolean;
  /** Processors this process may use. */
  cores: number;
  temporaryDirectory: string;
  /** The value of another key (its own default included), or undefined when it has none. */
  value(key: string): unknown;
}

/** A default worked out at start. `auto` in the environment or file asks for it, as absence does. */
export interface Derived<T> {
  /** The rule in words, for the reference. */
  says: string;
  from(facts: DefaultFacts): T;
}

/** Other spellings of a key. */
export interface Aliases {
  /** Accepted short forms of the environment. */
  env?: readonly string[];
  /** Older keys, in the environment and the file; using one is a warning. */
  keys?: readonly string[];
}

/** One key of the configuration: the only place that says what it is (contract 03 §11). */
export interface KeyDefinition<T> {
  /** Type and bounds in words, for the reference and for messages. */
  readonly accepts: string;
  readonly secret: boolean;
  /** A YAML sequence is accepted. */
  readonly many: boolean;
  /** The YAML sequence is one of mappings; everywhere else the same is JSON. */
  readonly structured?: boolean;
  /** The key stands for `<key>.<number>` of this range, each set on its own. */
  readonly numbered?: { min: number; max: number };
  readonly default: T | Derived<T>;
  /** One sentence: what it does, in which unit. */
  readonly about: string;
  readonly aliases: Aliases;
  parse(text: string): Parsed<T>;
}

interface Described {
  about: string;
  aliases?: Aliases;
}

export function isDerived<T>(value: T | Derived<T>): value is Derived<T> {
  return typeof value === 'object' && value !== null && 'from' in value && 'says' in value;
}

/** A whole number within bounds, both included. */
export function integer(key: Described & { default: number | Derived<number>; min: number; max: number }) {
  const accepts = `whole number, ${key.min}–${key.max}`;
  return define<number>(key, {
    accepts,
    parse: (text) => {
      const value = /^-?\d{1,15}$/.test(text) ? Number(text) : NaN;
      return value >= key.min && value <= key.max ? { value } : { problem: `must be a ${accepts}` };
    },
  });
}

export function flag(key: Described & { default: boolean | Derived<boolean> }) {
  return define<boolean>(key, {
    accepts: 'true or false',
    parse: (text) => {
      const word = text.toLowerCase();
      if (word !== 'true' && word !== 'false') return { problem: 'must be true or false' };
      return { value: word === 'true' };
    },
  });
}

export function choice<const V extends string>(
  values: readonly V[],
  key: Described & { default: NoInfer<V> | Derived<NoInfer<V>> },
) {
  return define<V>(key, choiceOf(values));
}

/** As `choice`, with no value until somebody sets one. */
export function optionalChoice<const V extends string>(values: readonly V[], key: Described & Partial<DefaultOf<V>>) {
  return define<V | undefined>({ default: undefined, ...key }, choiceOf(values));
}

interface DefaultOf<V> {
  default: Derived<V | undefined>;
}

/** Free text of a stated form. */
export function text(key: Described & { default: string | Derived<string>; form?: TextForm }) {
  return define<string>(key, key.form ?? ANY_TEXT);
}

export function optionalText(key: Described & { form?: TextForm }) {
  return define<string | undefined>({ default: undefined, ...key }, key.form ?? ANY_TEXT);
}

/** Never shown; also readable from a file by the `…_FILE` variant of its variable. */
export function secret(key: Described & { form?: TextForm }) {
  return define<string | undefined>({ default: undefined, ...key }, { ...(key.form ?? ANY_TEXT), secret: true });
}

/** Several texts: a YAML sequence, or separated by commas. */
export function list(
  key: Described & { default?: readonly string[] | Derived<readonly string[]>; form?: TextForm; secret?: boolean },
) {
  const form = key.form ?? ANY_TEXT;
  return define<readonly string[]>(
    { default: [], ...key },
    {
      accepts: `list: ${form.accepts}`,
      secret: key.secret ?? false,
      many: true,
      parse: (joined) => {
        const items: string[] = [];
        for (const item of splitList(joined)) {
          const parsed = form.parse(item);
          if ('problem' in parsed) return { problem: `entry ${items.length + 1} ${parsed.problem}` };
          items.push(parsed.value);
        }
        return { value: items };
      },
    },
  );
}

/** Several records: a YAML sequence of mappings, or the same as JSON text. Secret, because records may hold secrets. */
export function records<T>(key: Described & { accepts: string; parse: (text: string) => Parsed<readonly T[]> }) {
  return define<readonly T[]>(
    { default: [], ...key },
    { accepts: key.accepts, secret: true, many: true, structured: true, parse: key.parse },
  );
}

/** Secrets by version number, each under `<key>.<number>`; the loader joins what it finds as `2=…,3=…`. */
export function numberedSecrets(key: Described & { min: number; max: number; form: TextForm }) {
  return define<ReadonlyMap<number, string>>(
    { default: new Map<number, string>(), ...key },
    {
      accepts: key.form.accepts,
      secret: true,
      numbered: { min: key.min, max: key.max },
      parse: (joined) => {
        const values = new Map<number, string>();
        for (const entry of splitList(joined)) {
          const version = entry.slice(0, entry.indexOf('='));
          const parsed = key.form.parse(entry.slice(version.length + 1));
          if ('problem' in parsed) return { problem: `number ${version} ${parsed.problem}` };
          values.set(Number(version), parsed.value);
        }
        return { value: values };
      },
    },
  );
}

/** What a text must look like; `parse` may normalise it. */
export interface TextForm {
  accepts: string;
  parse(text: string): Parsed<string>;
}

const ANY_TEXT: TextForm = { accepts: 'text', parse: (value) => ({ value }) };

export function splitList(joined: string): string[] {
  return joined
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function choiceOf<V extends string>(values: readonly V[]): Pick<KeyDefinition<V>, 'accepts' | 'parse'> {
  const accepts = values.map((value) => `\`${value}\``).join(' or ');
  return {
    accepts,
    parse: (word) => {
      const value = values.find((candidate) => candidate === word.toLowerCase());
      return value === undefined ? { problem: `must be ${values.join(' or ')}` } : { value };
    },
  };
}

function define<T>(
  key: Described & { default: T | Derived<T> },
  kind: Pick<KeyDefinition<T>, 'accepts' | 'parse' | 'numbered' | 'structured'> & { secret?: boolean; many?: boolean },
): KeyDefinition<T> {
  return {
    accepts: kind.accepts,
    secret: kind.secret ?? false,
    many: kind.many ?? false,
    numbered: kind.numbered,
    ...(kind.structured === undefined ? {} : { structured: kind.structured }),
    default: key.default,
    about: key.about,
    aliases: key.aliases ?? {},
    parse: kind.parse,
  };
}
