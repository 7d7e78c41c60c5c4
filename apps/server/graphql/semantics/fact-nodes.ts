import { Injectable } from '@nestjs/common';
import { toWireStamp, type KeysetListing } from '#libs/kernel';
import {
  factCursor,
  FactListing,
  storedDrift,
  type FactQuery,
  type LearnedFact,
  type ServedFact,
} from '#libs/semantics';
import { Batch } from '../engine/batch.js';
import type { OperationContext } from '../engine/operation-context.js';
import { Actors } from '../identity/actor.js';
import { toConnection, type Connection, type PageArgs } from '../paging/connection.js';
import { Cursors } from '../paging/cursor.js';
import { PipelineNodes } from '../pipelines/pipeline-nodes.js';
import { EMPTY_PAGE, pagesOfParents } from '../schema/page-of-parent.js';
import type { LearnedFactType } from './fact.types.js';

/** Makes facts of what the services give. */
@Injectable()
export class FactNodes {
  readonly #byId: Batch<string, LearnedFact>;
  readonly #pages;
  readonly #counts;

  constructor(
    private readonly actors: Actors,
    private readonly pipelines: PipelineNodes,
    listing: FactListing,
  ) {
    this.#byId = new Batch((principal, ids) => listing.factsOf(principal, ids));
    this.#pages = pagesOfParents<FactQuery, KeysetListing<LearnedFact>>((principal, names, page, query) =>
      listing.pages(principal, names, query, page),
    );
    this.#counts = pagesOfParents<FactQuery, number>((principal, names, _page, query) =>
      listing.counts(principal, names, query),
    );
  }

  fact(fact: LearnedFact): LearnedFactType {
    return this.served({ fact, drift: storedDrift(fact) });
  }

  served({ fact, drift }: ServedFact): LearnedFactType {
    const { sourcePipeline, supersedes } = fact;
    return {
      id: fact.id,
      datasourceName: fact.datasource,
      scope: fact.scope,
      kind: fact.kind,
      fact: fact.fact,
      refs: fact.refs,
      evidenceSql: fact.evidenceSql,
      evidenceSummary: fact.evidenceSummary,
      trust: fact.trust,
      drift: drift ?? null,
      conflict: fact.isConflicting,
      fromThisWorkspace: fact.isFromHere,
      sourcePipeline: (_args, context) =>
        sourcePipeline === null ? undefined : this.pipelines.load(context, sourcePipeline.id),
      sourceVersion: fact.sourceVersion,
      recordedBy: this.actors.of(fact.recordedBy),
      recordedVia: fact.recordedVia,
      recordedAt: toWireStamp(fact.recordedAt),
      verifiedBy: fact.verifiedBy === null ? null : this.actors.of(fact.verifiedBy),
      verifiedAt: fact.verifiedAt === null ? null : toWireStamp(fact.verifiedAt),
      supersedes: async (_args, context) => {
        const old = supersedes === null ? undefined : await context.load(this.#byId, supersedes);
        return old && this.fact(old);
      },
      retiredAt: fact.retiredAt === null ? null : toWireStamp(fact.retiredAt),
      retiredReason: fact.retiredReason,
    };
  }

  /** A page of the facts of one of many datasources, newest first. */
  async pageOf(
    context: OperationContext,
    datasource: string,
    query: FactQuery,
    asked: PageArgs,
  ): Promise<Connection<LearnedFactType>> {
    const cursors = new Cursors('facts/datasource', { datasource, query });
    const page = cursors.page(asked);
    const key = { parent: datasource, page, filter: query };
    return this.connection((await context.load(this.#pages, key)) ?? EMPTY_PAGE, cursors, async () => {
      return (await context.load(this.#counts, { ...key, page: {} })) ?? 0;
    });
  }

  connection(
    listing: KeysetListing<LearnedFact>,
    cursors: Cursors,
    count: () => Promise<number>,
  ): Connection<LearnedFactType> {
    return toConnection(listing, { cursors, keyOf: factCursor, nodeOf: (fact) => this.fact(fact), count });
  }
}
