import type { ExchangeResult } from './exchange.js';
import { ReadShapes } from './read-shapes.js';

/** What `pg_type` says of a type outside the built-in range. */
export interface CatalogType {
  name: string;
  /** `e` enum, `r`/`m` range, `c` composite, `b` base, `d` domain. */
  kind: string;
  /** `A` = an array. */
  category: string;
}

/** Numbers below are the same in every database. */
const FIRST_USER_OID = 16_384;

type RunQuery = (statement: { sql: string; values: readonly unknown[] }) => Promise<ExchangeResult>;

/** Names of types the driver does not know by number, read once per pool: OIDs above 16383 differ in every database. */
export class TypeNames {
  /** Results read through these types. */
  readonly shapes = new ReadShapes();
  readonly #known = new Map<number, CatalogType>();

  get(oid: number): CatalogType | undefined {
    return this.#known.get(oid);
  }

  /** Which of these must be read before a result can be described: not built in, and not known yet. */
  missing(oids: readonly number[]): number[] {
    return [...new Set(oids)].filter((oid) => oid >= FIRST_USER_OID && !this.#known.has(oid));
  }

  /** Reads types; one query whatever their number. */
  async learn(oids: readonly number[], run: RunQuery): Promise<void> {
    const { rows } = await run({
      sql: `SELECT oid::int8, format_type(oid, NULL), typtype, typcategory FROM pg_catalog.pg_type WHERE oid = ANY ($1::oid[])`,
      values: [`{${oids.join(',')}}`],
    });
    for (const [oid, name, kind, category] of rows) {
      this.#known.set(Number(oid), { name: name ?? '', kind: kind ?? 'b', category: category ?? 'U' });
    }
    for (const oid of oids) {
      if (!this.#known.has(oid)) this.#known.set(oid, { name: `oid ${oid}`, kind: 'b', category: 'U' });
    }
  }
}
