import { Injectable } from '@nestjs/common';

import { CatalogReader, DatasourceAccess, type CatalogTableName } from '#libs/datasources';
import { isPenstockError, Logger } from '#libs/kernel';
import { Database } from '#libs/persistence';

import { COLUMNS_CHANGED, storedDrift, type ServedFact } from '../fact-view.js';
import { FactRepository } from '../fact.repository.js';
import type { FactPlace } from '../learned-fact.js';
import { columnsDrift, goneText, tablesGone, type MissingRefs } from '../rules/drift.js';
import { namespaceOf } from '../rules/fact-refs.js';
import { trustAfter, type FactEvent } from '../rules/fact-trust.js';

/** Most missing names that one read asks the database about again; what is beyond them is marked by a later read. */
const ASKED_AGAIN = 1000;

export interface ReaderOf {
  workspaceId: string;
  datasource: string;
  gaveUp: AbortSignal | undefined;
}

/**
 * What a read of the catalog says about facts, written down before they are served (06 §11). A mark that cannot be written
 * is logged and served all the same; what the login may only not see is no drift.
 */
@Injectable()
export class DriftMarks {
  readonly #log: Logger;

  constructor(
    private readonly db: Database,
    private readonly facts: FactRepository,
    private readonly datasources: DatasourceAccess,
    private readonly catalogs: CatalogReader,
    logger: Logger,
  ) {
    this.#log = logger.child('semantics.drift');
  }

  /** `listed` are the keys of all tables there are; undefined where the listing was not a complete one. */
  async byTables<F extends FactPlace>(
    reader: ReaderOf,
    facts: readonly F[],
    listed: ReadonlySet<string> | undefined,
  ): Promise<ServedFact<F>[]> {
    const gone = listed === undefined || listed.size === 0 ? [] : await this.#really(reader, tablesGone(facts, listed));
    await this.#mark('ref_gone', gone);
    const texts = new Map(gone.map(({ fact, refs }) => [fact.id, goneText(refs, 'table')]));
    return facts.map((fact) => served(fact, 'ref_gone', texts.get(fact.id), lostColumn(fact)));
  }

  async byColumns<F extends FactPlace>(
    reader: ReaderOf,
    facts: readonly F[],
    seen: { table: CatalogTableName; key: string; columns: ReadonlySet<string>; digest: string },
  ): Promise<ServedFact<F>[]> {
    const drift = columnsDrift(facts, seen.key, seen.columns, seen.digest);
    const gone = await this.#really(reader, drift.gone);
    const changed = await this.#reallyChanged(reader, drift.changed, seen.table);
    await this.#mark('ref_gone', gone);
    await this.#mark(
      'columns_changed',
      changed.map((fact) => ({ fact, refs: [] })),
    );
    const texts = new Map(gone.map(({ fact, refs }) => [fact.id, goneText(refs, 'column')]));
    const isChanged = new Set(changed.map(({ id }) => id));
    return facts.map((fact) =>
      isChanged.has(fact.id)
        ? served(fact, 'columns_changed', COLUMNS_CHANGED)
        : served(fact, 'ref_gone', texts.get(fact.id)),
    );
  }

  /** Without what the database holds all the same. What is stale already needs no second look. */
  async #really(reader: ReaderOf, missing: readonly MissingRefs[]): Promise<MissingRefs[]> {
    const doubtful = missing.filter(({ fact }) => fact.trust !== 'stale').slice(0, ASKED_AGAIN);
    const known = missing.filter(({ fact }) => fact.trust === 'stale');
    if (doubtful.length === 0) return known;
    const names = doubtful.flatMap(({ refs }) =>
      refs.map(({ schema, table, column }) => ({
        namespace: namespaceOf(schema),
        name: table,
        column: column ?? null,
      })),
    );
    const held = await this.#asked(reader, async ({ driver, query }) =>
      driver.introspection.mayHold
        ? await driver.introspection.mayHold(query, names, reader.datasource)
        : names.map(() => false),
    );
    if (held === undefined) return known;
    let at = 0;
    const gone = doubtful.flatMap(({ fact, refs }) => {
      const left = refs.filter(() => held[at++] !== true);
      return left.length === 0 ? [] : [{ fact, refs: left }];
    });
    return [...known, ...gone];
  }

  async #reallyChanged<F extends FactPlace>(
    reader: ReaderOf,
    changed: readonly F[],
    table: CatalogTableName,
  ): Promise<readonly F[]> {
    const lowered = changed.filter(({ trust }) => trustAfter(trust, 'columns_changed') !== trust);
    if (lowered.length === 0) return [];
    const hides = await this.#asked(reader, async ({ driver, query }) =>
      driver.introspection.hidesColumns
        ? await driver.introspection.hidesColumns(query, table, reader.datasource)
        : false,
    );
    return hides === false ? lowered : [];
  }

  /** A second question to the database; when it fails nothing is known, and nothing is marked. */
  async #asked<T>(
    { workspaceId, datasource, gaveUp }: ReaderOf,
    work: Parameters<typeof this.catalogs.read<T>>[2],
  ): Promise<T | undefined> {
    try {
      const record = await this.datasources.live(workspaceId, datasource);
      return record && (await this.catalogs.read(record, gaveUp, work));
    } catch (error) {
      if (!isPenstockError(error)) throw error;
      this.#log.warn('semantics.drift_not_judged', { datasource, error });
      return undefined;
    }
  }

  async #mark(event: FactEvent, drifted: readonly MissingRefs[]): Promise<void> {
    const facts = drifted.map(({ fact }) => fact).filter(({ trust }) => trustAfter(trust, event) !== trust);
    try {
      await this.facts.mark(this.db, event, facts);
    } catch (error) {
      this.#log.warn('semantics.mark_not_written', { event, facts: facts.length, error });
    }
  }
}

/** The fact as it is after the mark. Without news its earlier mark speaks. */
function served<F extends FactPlace>(
  fact: F,
  event: FactEvent,
  news: string | undefined,
  earlier = storedDrift(fact),
): ServedFact<F> {
  if (news === undefined) return { fact, drift: earlier };
  return { fact: { ...fact, trust: trustAfter(fact.trust, event) }, drift: news };
}

/** A stale fact about one column tells in a listing of tables which one it was. */
function lostColumn(fact: FactPlace): string | undefined {
  const columns = fact.refs.filter(({ column }) => column !== undefined);
  return fact.trust === 'stale' && columns.length === 1 && fact.refs.length === 1
    ? goneText(columns, 'column')
    : storedDrift(fact);
}
