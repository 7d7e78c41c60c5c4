import { Injectable } from '@nestjs/common';

import {
  DatasourceService,
  IntrospectionService,
  type ColumnView,
  type DatasourceFilter,
  type DatasourceView,
  type TableListView,
  type TableView,
} from '#libs/datasources';
import { authorise } from '#libs/identity';
import type { KeysetListing, KeysetPage, Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import type { ColumnType } from '#libs/typesystem';

import { inlineFactView, storedDrift, type InlineFactView, type ServedFact } from '../fact-view.js';
import type { FactPlace, LearnedFact } from '../learned-fact.js';
import { schemaOf, tableKey } from '../rules/fact-refs.js';
import { tableDigest } from '../rules/fingerprint.js';
import { columnsOf, FACTS_PER_OBJECT, shownFacts, tablesOf, withConflicts } from '../rules/placement.js';
import { DriftMarks } from './drift-marks.js';
import { InlineFactRepository } from './inline-fact.repository.js';

/** Facts beside one object, newest first. */
export interface ObjectFacts<F extends FactPlace = LearnedFact> {
  facts: ServedFact<F>[];
  /** There are more than are shown. */
  truncated: boolean;
}

export interface FactsOf<T> extends ObjectFacts {
  item: T;
}

interface InlineFacts {
  facts?: InlineFactView[];
  facts_truncated?: true;
}

export type AnnotatedDatasourceView = Omit<DatasourceView, 'facts' | 'definitions'> & {
  facts: InlineFactView[];
  definitions: InlineFactView[];
  facts_truncated?: true;
};
export type AnnotatedTableView = TableView & InlineFacts;
export type AnnotatedColumnView = ColumnView & InlineFacts;

/** The catalog with what people and agents have learned beside each object: the introspection that doors show (06 §11). */
@Injectable()
export class AnnotatedCatalog {
  constructor(
    private readonly db: Database,
    private readonly datasourceRows: DatasourceService,
    private readonly introspection: IntrospectionService,
    private readonly facts: InlineFactRepository,
    private readonly marks: DriftMarks,
  ) {}

  async datasource(principal: Principal, name: string): Promise<AnnotatedDatasourceView> {
    return await this.annotated(principal, await this.datasourceRows.read(principal, name));
  }

  async datasources(
    principal: Principal,
    filter: DatasourceFilter,
    page: KeysetPage,
  ): Promise<KeysetListing<AnnotatedDatasourceView>> {
    const { items, ...more } = await this.datasourceRows.list(principal, filter, page);
    return { items: await this.#annotate(principal, items), ...more };
  }

  async count(principal: Principal, filter: DatasourceFilter): Promise<number> {
    return await this.datasourceRows.count(principal, filter);
  }

  /** A datasource that was just written, with its facts. */
  async annotated(principal: Principal, view: DatasourceView): Promise<AnnotatedDatasourceView> {
    const [annotated] = await this.#annotate(principal, [view]);
    return annotated ?? { ...view, facts: [], definitions: [] };
  }

  async tables(
    principal: Principal,
    name: string,
    filter: { namespace?: readonly string[] | undefined } = {},
    gaveUp?: AbortSignal,
  ): Promise<Omit<TableListView, 'tables'> & { tables: AnnotatedTableView[] }> {
    const { tables, truncated } = await this.tablesWithFacts(principal, name, filter, gaveUp);
    return { tables: tables.map(inline), truncated };
  }

  /** As {@link tables}, with whole facts. */
  async tablesWithFacts(
    principal: Principal,
    name: string,
    filter: { namespace?: readonly string[] | undefined } = {},
    gaveUp?: AbortSignal,
  ): Promise<{ tables: FactsOf<TableView>[]; truncated: boolean }> {
    const listing = await this.introspection.tables(principal, name, filter, gaveUp);
    const { id: workspaceId } = authorise(principal, 'datasource.introspect');
    const facts = withConflicts(await this.facts.places(this.db, workspaceId, name));
    const keys = listing.tables.map(keyOf);
    const isComplete = filter.namespace === undefined && !listing.truncated;
    const reader = { workspaceId, datasource: name, gaveUp };
    const served = await this.marks.byTables(reader, facts, isComplete ? new Set(keys) : undefined);
    const byTable = placed(served, ({ fact }) => tablesOf(fact));
    const placedFacts = keys.map((key) => capped(byTable.get(key)));
    const texts = await this.#texts(workspaceId, placedFacts);
    const tables = listing.tables.map((item, at) => ({ item, ...wholeFacts(placedFacts[at], texts) }));
    return { tables, truncated: listing.truncated };
  }

  async columns(
    principal: Principal,
    name: string,
    request: { table: string; namespace?: readonly string[] | undefined },
    gaveUp?: AbortSignal,
  ): Promise<AnnotatedColumnView[]> {
    return (await this.columnsWithFacts(principal, name, request, gaveUp)).map(inline);
  }

  /** As {@link columns}, with whole facts. */
  async columnsWithFacts(
    principal: Principal,
    name: string,
    request: { table: string; namespace?: readonly string[] | undefined },
    gaveUp?: AbortSignal,
  ): Promise<FactsOf<ColumnView>[]> {
    const { table, columns } = await this.introspection.describe(principal, name, request, gaveUp);
    const { id: workspaceId } = authorise(principal, 'datasource.introspect');
    const facts = withConflicts(await this.facts.places(this.db, workspaceId, name, table.name));
    const key = keyOf(table);
    const served = await this.marks.byColumns({ workspaceId, datasource: name, gaveUp }, facts, {
      table,
      key,
      columns: new Set(columns.map((column) => column.name)),
      digest: tableDigest(columns.map((column) => ({ name: column.name, type: typeOf(column) }))),
    });
    const byColumn = placed(served, ({ fact }) => columnsOf(fact, key));
    const placedFacts = columns.map((column) => capped(byColumn.get(column.name)));
    const texts = await this.#texts(workspaceId, placedFacts);
    return columns.map((item, at) => ({ item, ...wholeFacts(placedFacts[at], texts) }));
  }

  /** The facts that are shown, and of a large datasource only those. */
  async #texts(workspaceId: string, placedFacts: readonly ObjectFacts<FactPlace>[]): Promise<Map<string, LearnedFact>> {
    const ids = new Set(placedFacts.flatMap(({ facts }) => facts.map(({ fact }) => fact.id)));
    return ids.size === 0 ? new Map() : await this.facts.texts(this.db, workspaceId, [...ids]);
  }

  /** As stored: nothing is looked at again for a list of datasources. */
  async #annotate(principal: Principal, views: readonly DatasourceView[]): Promise<AnnotatedDatasourceView[]> {
    const workspaceId = principal.workspace?.id;
    const names = views.map(({ name }) => name);
    const facts =
      workspaceId === undefined || names.length === 0
        ? []
        : await this.facts.ofDatasources(this.db, workspaceId, names, FACTS_PER_OBJECT + 1);
    const byDatasource = Map.groupBy(facts, ({ datasource }) => datasource);
    return views.map((view) => annotatedView(view, byDatasource.get(view.name) ?? []));
  }
}

function annotatedView(view: DatasourceView, facts: readonly LearnedFact[]): AnnotatedDatasourceView {
  const served = facts.map((fact): ServedFact => ({ fact, drift: storedDrift(fact) }));
  const own = capped(served.filter(({ fact }) => fact.scope === 'WORKSPACE'));
  const shared = capped(served.filter(({ fact }) => fact.scope === 'DATASOURCE'));
  return {
    ...view,
    facts: shared.facts.map(inlineFactView),
    definitions: own.facts.map(inlineFactView),
    ...(own.truncated || shared.truncated ? { facts_truncated: true } : {}),
  };
}

function keyOf({ namespace, name }: { namespace: readonly string[]; name: string }): string {
  const schema = schemaOf(namespace);
  return tableKey({ ...(schema === undefined ? {} : { schema }), table: name });
}

function typeOf({ type, precision, scale }: ColumnView): ColumnType {
  return {
    type: type as ColumnType['type'],
    ...(precision === undefined ? {} : { precision }),
    ...(scale === undefined ? {} : { scale }),
  };
}

/** The place's trust and conflict are of this read; a fact that went meanwhile is left out. */
function whole({ fact, drift }: ServedFact<FactPlace>, texts: ReadonlyMap<string, LearnedFact>): ServedFact[] {
  const text = texts.get(fact.id);
  const { trust, isConflicting } = fact;
  return text ? [{ fact: { ...text, trust, isConflicting }, drift }] : [];
}

function wholeFacts(
  { facts, truncated }: ObjectFacts<FactPlace> = { facts: [], truncated: false },
  texts: ReadonlyMap<string, LearnedFact>,
): ObjectFacts {
  return { facts: facts.flatMap((place) => whole(place, texts)), truncated };
}

function placed<F extends FactPlace>(
  served: readonly ServedFact<F>[],
  places: (fact: ServedFact<F>) => Set<string>,
): Map<string, ServedFact<F>[]> {
  const found = new Map<string, ServedFact<F>[]>();
  for (const fact of served) {
    for (const place of places(fact)) {
      const there = found.get(place);
      if (there) there.push(fact);
      else found.set(place, [fact]);
    }
  }
  return found;
}

function capped<F extends FactPlace>(facts: readonly ServedFact<F>[] = []): ObjectFacts<F> {
  return { facts: [...shownFacts(facts)], truncated: facts.length > FACTS_PER_OBJECT };
}

function inline<T>({ item, facts, truncated }: FactsOf<T>): T & InlineFacts {
  return {
    ...item,
    ...(facts.length > 0 ? { facts: facts.map(inlineFactView) } : {}),
    ...(truncated ? { facts_truncated: true as const } : {}),
  };
}
