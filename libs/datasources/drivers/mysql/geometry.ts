import { float32Text, float64Text } from '#libs/typesystem';

const NAMES = [
  '',
  'POINT',
  'LINESTRING',
  'POLYGON',
  'MULTIPOINT',
  'MULTILINESTRING',
  'MULTIPOLYGON',
  'GEOMETRYCOLLECTION',
];
/** Levels of collections in collections. */
const DEEPEST = 32;

/** WKT of MySQL's geometry bytes: four of the reference system, then WKB. Bytes that are none show as hexadecimal. */
export function wellKnownText(bytes: Buffer): string {
  try {
    const reader = new WkbReader(bytes, 4);
    const text = reader.geometry(0);
    if (reader.atEnd) return text;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return bytes.toString('hex').toUpperCase();
}

/** MySQL's and MariaDB's VECTOR: float32 values. */
export function vectorText(bytes: Buffer): string {
  const values: string[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) values.push(float32Text(bytes.readFloatLE(at)));
  return `[${values.join(',')}]`;
}

class WkbReader {
  readonly #bytes: Buffer;
  #at: number;
  #little = true;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  geometry(depth: number): string {
    this.#little = this.#bytes.readUInt8(this.#at) === 1;
    this.#at += 1;
    const kind = this.#count();
    const name = NAMES[kind];
    if (!name || depth > DEEPEST) throw new RangeError('no geometry');
    return `${name}${this.#body(kind, depth)}`;
  }

  #body(kind: number, depth: number): string {
    switch (kind) {
      case 1:
        return `(${this.#point()})`;
      case 2:
        return this.#list(() => this.#point());
      case 3:
        return this.#list(() => this.#list(() => this.#point()));
      case 7:
        return this.#list(() => this.geometry(depth + 1));
      default:
        // Parts of a MULTI… repeat the kind of each part, which its text leaves out.
        return this.#list(() => this.geometry(depth + 1).replace(kind === 4 ? /^POINT\(|\)$/g : /^[A-Z]+/, ''));
    }
  }

  #list(item: () => string): string {
    const count = this.#count();
    if (count > this.#bytes.length) throw new RangeError('no geometry');
    const items: string[] = [];
    for (let index = 0; index < count; index += 1) items.push(item());
    return items.length === 0 ? ' EMPTY' : `(${items.join(',')})`;
  }

  #point(): string {
    return `${this.#number()} ${this.#number()}`;
  }

  #number(): string {
    const value = this.#little ? this.#bytes.readDoubleLE(this.#at) : this.#bytes.readDoubleBE(this.#at);
    this.#at += 8;
    return float64Text(value);
  }

  #count(): number {
    const value = this.#little ? this.#bytes.readUInt32LE(this.#at) : this.#bytes.readUInt32BE(this.#at);
    this.#at += 4;
    return value;
  }
}
