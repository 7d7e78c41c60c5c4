import { Injectable } from '@nestjs/common';

import {
  CatalogReader,
  nearest,
  type CatalogColumn,
  type CatalogTable,
  type DatasourceRecord,
  type OpenCatalog,
} from '#libs/datasources';
import { PenstockError } from '#libs/kernel';

import type { FactRef } from '../learned-fact.js';
import { namespaceOf, normalisedRefs, refText, schemaOf, tableKey } from '../rules/fact-refs.js';
import { judgeWords } from '../rules/fact-words.js';
import { fingerprint } from '../rules/fingerprint.js';
import { MAX_REFS } from './fact-body.js';

/** Beyond so many tables the words of a fact are not compared with their names (contract 06 §11, step 5). */
const WORDS_AMONG = 2000;
/** Most schemas that are named in which the table is, when it is not where it is looked for. */
const MISPLACED = 20;
/** Most tables of one schema whose names are compared with one that is not there. */
const SUGGESTED_AMONG = 2000;

export interface ResolvedRefs {
  refs: FactRef[];
  /** Tables that the text names and the refs did not. */
  added: FactRef[];
  fingerprint: string;
}

/** Compares refs with the datasource as it is now, within one read of its catalog. */
@Injectable()
export class LiveRefs {
  constructor(private readonly catalogs: CatalogReader) {}

  /**
   * Each ref's schema is filled in with the one the connection means, so that the same table is the same ref.
   * @throws 400 `semantics.ref_unresolved`, 400 `semantics.ref_mismatch`; and as every read of a catalog
   */
  async ofFact(
    record: DatasourceRecord,
    refs: readonly FactRef[],
    fact: string,
    gaveUp?: AbortSignal,
  ): Promise<ResolvedRefs> {
    return await this.catalogs.read(record, gaveUp, async (catalog) => {
      const schema = new LiveSchema(catalog, await listed(catalog));
      const resolved = normalisedRefs(await schema.resolveAll(refs));
      const added = schema.all ? await addedByWords(schema, schema.all, resolved, fact) : [];
      const all = normalisedRefs([...resolved, ...added]);
      return { refs: all, added, fingerprint: await schema.fingerprint(all) };
    });
  }

  /** The fingerprint of the tables as they are now. @throws 400 `semantics.ref_unresolved` */
  async fingerprint(record: DatasourceRecord, refs: readonly FactRef[], gaveUp?: AbortSignal): Promise<string> {
    if (refs.length === 0) return '';
    return await this.catalogs.read(record, gaveUp, async (catalog) => {
      const schema = new LiveSchema(catalog);
      return await schema.fingerprint(await schema.resolveAll(refs));
    });
  }
}

/** Every table there is; undefined where there are too many to compare words with. */
async function listed({ driver, query, record }: OpenCatalog): Promise<CatalogTable[] | undefined> {
  const among = { namespace: null, include: record.includeSchemas };
  const tables = await driver.introspection.tables(query, among, WORDS_AMONG + 1);
  return tables.length <= WORDS_AMONG ? tables : undefined;
}

async function addedByWords(
  schema: LiveSchema,
  tables: readonly CatalogTable[],
  refs: readonly FactRef[],
  fact: string,
): Promise<FactRef[]> {
  const alsoRight = new Set<string>();
  for (const ref of refs) {
    if (ref.schema !== undefined) alsoRight.add(ref.schema.toLowerCase());
    for (const { name } of await schema.columns(ref)) alsoRight.add(name.toLowerCase());
  }
  const verdict = judgeWords(fact, refs, { tables, alsoRight });
  if ('missing' in verdict) return verdict.missing.slice(0, MAX_REFS - refs.length);
  const { token, suggestion } = verdict.mismatch;
  throw new PenstockError('semantics.ref_mismatch', {
    message: `The fact says “${token}”, which is no table here; did you mean “${suggestion}”?`,
    details: { token, suggestion },
  });
}

/** What one open catalog tells, each thing asked for once; a table is asked for by its name, unless all are known. */
class LiveSchema {
  readonly #columns = new Map<string, Promise<CatalogColumn[]>>();
  readonly #tables = new Map<string, Promise<CatalogTable>>();
  #current: Promise<readonly string[] | null> | undefined;

  constructor(
    private readonly catalog: OpenCatalog,
    /** Every table, where they were listed. */
    readonly all?: readonly CatalogTable[],
  ) {}

  async resolveAll(refs: readonly FactRef[]): Promise<FactRef[]> {
    const resolved: FactRef[] = [];
    for (const ref of refs) resolved.push(await this.#resolve(ref));
    return resolved;
  }

  columns(ref: FactRef): Promise<CatalogColumn[]> {
    const key = tableKey(ref);
    const { driver, query } = this.catalog;
    const found =
      this.#columns.get(key) ?? this.#table(ref).then((table) => driver.introspection.columns(query, table));
    this.#columns.set(key, found);
    return found;
  }

  async fingerprint(refs: readonly FactRef[]): Promise<string> {
    const tables: { ref: FactRef; columns: { name: string; type: CatalogColumn['mapped']['type'] }[] }[] = [];
    for (const ref of refs) {
      const columns = await this.columns(ref);
      tables.push({ ref, columns: columns.map(({ name, mapped }) => ({ name, type: mapped.type })) });
    }
    return fingerprint(tables);
  }

  async #resolve(ref: FactRef): Promise<FactRef> {
    const schema = ref.schema ?? schemaOf((await this.#currentNamespace()) ?? []);
    const whole = { ...(schema === undefined ? {} : { schema }), ...ref };
    const { column } = whole;
    if (column === undefined) {
      await this.#table(whole);
      return whole;
    }
    const names = (await this.columns(whole)).map(({ name }) => name);
    if (!names.includes(column)) throw unresolved(ref, nearest(column, names));
    return whole;
  }

  #table(ref: FactRef): Promise<CatalogTable> {
    const key = tableKey(ref);
    const found = this.#tables.get(key) ?? this.#find(ref);
    this.#tables.set(key, found);
    return found;
  }

  async #find(ref: FactRef): Promise<CatalogTable> {
    const namespace = namespaceOf(ref.schema);
    const among = await this.#candidates(namespace, ref.table);
    const table = among.find(({ name }) => name === ref.table);
    if (table) return table;
    const alike = this.all ?? (await this.#tablesOf(null, MISPLACED, ref.table));
    const elsewhere = alike.flatMap((each) => (each.name === ref.table ? [schemaOf(each.namespace) ?? ''] : []));
    if (elsewhere.length > 0) throw misplaced(ref, elsewhere);
    const others = this.all ? among : await this.#tablesOf(namespace, SUGGESTED_AMONG);
    const names = others.map(({ name }) => name);
    throw unresolved(ref, nearest(ref.table, names));
  }

  async #candidates(namespace: readonly string[], name: string): Promise<readonly CatalogTable[]> {
    const key = namespace.join('.');
    return this.all
      ? this.all.filter((table) => table.namespace.join('.') === key)
      : await this.#tablesOf(namespace, 1, name);
  }

  #tablesOf(namespace: readonly string[] | null, limit: number, name?: string): Promise<CatalogTable[]> {
    const { driver, query, record } = this.catalog;
    const among = { namespace, include: record.includeSchemas, ...(name === undefined ? {} : { name }) };
    return driver.introspection.tables(query, among, limit);
  }

  #currentNamespace(): Promise<readonly string[] | null> {
    this.#current ??= this.catalog.driver.introspection.currentNamespace(this.catalog.query);
    return this.#current;
  }
}

const SCHEMAS_SHOWN = 10;

/** The name is right; the schema is another, or has to be told. */
function misplaced(ref: FactRef, schemas: readonly string[]): PenstockError {
  const shown = schemas.toSorted().slice(0, SCHEMAS_SHOWN);
  return new PenstockError('semantics.ref_unresolved', {
    message: `There is no “${refText(ref)}” in the datasource. “${ref.table}” stands in ${shown.join(', ')}: name that as its schema.`,
    details: { ref, schemas: shown },
  });
}

function unresolved(ref: FactRef, suggestion: string | undefined): PenstockError {
  const meant = suggestion === undefined ? '' : ` Did you mean “${suggestion}”?`;
  return new PenstockError('semantics.ref_unresolved', {
    message: `There is no “${refText(ref)}” in the datasource.${meant}`,
    details: { ref, ...(suggestion === undefined ? {} : { suggestion }) },
  });
}
