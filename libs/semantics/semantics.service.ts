import { Injectable } from '@nestjs/common';

import type { JsonObject, Principal } from '#libs/kernel';

import { FactListing, type FactQuery } from './fact-listing.js';
import { FactStanding } from './fact-standing.js';
import { factView, type FactView } from './fact-view.js';
import type { FactRef } from './learned-fact.js';
import { FactRecording } from './recording/fact-recording.js';

/** Learned facts, as every door offers them (contract 06 §11). The surface of the principal is that of the fact. */
@Injectable()
export class SemanticsService {
  constructor(
    private readonly recording: FactRecording,
    private readonly standing: FactStanding,
    private readonly listing: FactListing,
  ) {}

  /**
   * Records a fact about a datasource, after all its checks. `refs_added` are tables that the text names and the body's
   * refs did not.
   *
   * @throws 404 `datasource.not_found`, `pipeline.execution.not_found`, `semantics.not_found` (supersedes); 400
   *   `semantics.kind_invalid`, `fact_invalid`, `ref_unresolved`, `ref_mismatch`, `evidence_refused`, `evidence_failed`;
   *   409 `semantics.duplicate`, `too_many_facts`; 403 `auth.role_required` for superseding another workspace's fact
   */
  async record(
    principal: Principal,
    datasource: string,
    body: JsonObject,
    gaveUp?: AbortSignal,
  ): Promise<FactView & { refs_added: FactRef[] }> {
    const { fact, refsAdded } = await this.recording.record(principal, datasource, body, gaveUp);
    return { ...factView(fact), refs_added: refsAdded };
  }

  /** Newest first, at most 500, as stored. */
  async list(
    principal: Principal,
    datasource: string,
    query: FactQuery = {},
  ): Promise<{ facts: FactView[]; truncated: boolean }> {
    const { facts, truncated } = await this.listing.list(principal, datasource, query);
    return { facts: facts.map(factView), truncated };
  }

  /** Ends a fact, with a reason of 1–500 characters; one that is retired stays as it is. */
  async retire(principal: Principal, id: string, { reason }: { reason?: unknown }): Promise<FactView> {
    return factView(await this.standing.retire(principal, id, reason));
  }

  /** A person confirms a fact against the tables as they are now; only in a session. */
  async verify(principal: Principal, id: string, gaveUp?: AbortSignal): Promise<FactView> {
    return factView(await this.standing.verify(principal, id, gaveUp));
  }
}
