import { Injectable } from '@nestjs/common';

import { DatasourceAccess } from '#libs/datasources';
import { authorise } from '#libs/identity';
import {
  isUuid,
  KeysetOrder,
  momentOf,
  PenstockError,
  type KeysetListing,
  type KeysetPage,
  type Principal,
} from '#libs/kernel';
import { Database } from '#libs/persistence';

import { FactRepository, type FactFilter } from './fact.repository.js';
import { FACT_SCOPES, type LearnedFact } from './learned-fact.js';

/** As a caller writes it; absent means any. */
export interface FactQuery {
  /** A table's name, or `schema.table`. */
  table?: string | undefined;
  scope?: string | undefined;
  include_retired?: boolean | undefined;
  /** RFC 3339: recorded then or later. */
  since?: string | undefined;
}

/** Most facts of one answer. */
const MOST = 500;

/** Facts by datasource, as stored; nothing is compared with the database behind it. */
@Injectable()
export class FactListing {
  constructor(
    private readonly db: Database,
    private readonly facts: FactRepository,
    private readonly datasources: DatasourceAccess,
  ) {}

  /** Newest first, at most 500. @throws 404 `datasource.not_found` */
  async list(
    principal: Principal,
    datasource: string,
    query: FactQuery,
  ): Promise<{ facts: LearnedFact[]; truncated: boolean }> {
    const { id } = authorise(principal, 'semantic.read');
    const filter = filterOf(query);
    if (!(await this.datasources.live(id, datasource)))
      throw new PenstockError('datasource.not_found', { details: { datasource } });
    const found = await this.facts.list(this.db, id, { ...filter, datasource }, MOST + 1);
    return { facts: found.slice(0, MOST), truncated: found.length > MOST };
  }

  /** A page of one datasource's facts, or of all that the workspace sees. */
  async listKeyset(
    principal: Principal,
    query: FactQuery & { datasource?: string | undefined },
    page: KeysetPage,
  ): Promise<KeysetListing<LearnedFact>> {
    const { id } = authorise(principal, 'semantic.read');
    const filter = { ...filterOf(query), datasource: query.datasource };
    const pages = await this.facts.pages(this.db, id, null, filter, page);
    return pages.get('') ?? { items: [], hasNext: false, hasPrevious: false };
  }

  async count(principal: Principal, query: FactQuery & { datasource?: string | undefined }): Promise<number> {
    const { id } = authorise(principal, 'semantic.read');
    const filter = { ...filterOf(query), datasource: query.datasource };
    return (await this.facts.counts(this.db, id, null, filter)).get('') ?? 0;
  }

  /** A page of each of several datasources' facts, in one statement. */
  async pages(
    principal: Principal,
    datasources: readonly string[],
    query: FactQuery,
    page: KeysetPage,
  ): Promise<Map<string, KeysetListing<LearnedFact>>> {
    const { id } = authorise(principal, 'semantic.read');
    return await this.facts.pages(this.db, id, datasources, filterOf(query), page);
  }

  async counts(principal: Principal, datasources: readonly string[], query: FactQuery): Promise<Map<string, number>> {
    const { id } = authorise(principal, 'semantic.read');
    return await this.facts.counts(this.db, id, datasources, filterOf(query));
  }

  /** By id; absent and invisible ones are left out. */
  async factsOf(principal: Principal, ids: readonly string[]): Promise<Map<string, LearnedFact>> {
    const { id } = authorise(principal, 'semantic.read');
    const found = await this.facts.among(this.db, id, ids.filter(isUuid));
    return new Map(found.map((fact) => [fact.id, fact]));
  }
}

/** A fact's place in its list, for `after` and `before`. */
export function factCursor({ recordedAt, id }: LearnedFact): string {
  return KeysetOrder.place(recordedAt, id);
}

function filterOf({ table, scope, include_retired, since }: FactQuery): FactFilter {
  const known = FACT_SCOPES.find((name) => name === scope);
  if (scope !== undefined && known === undefined) throw wrong('scope', `“scope” must be ${FACT_SCOPES.join(' or ')}.`);
  const from = since === undefined ? undefined : momentOf(since);
  if (since !== undefined && from === undefined)
    throw wrong('since', '“since” must be an RFC 3339 time such as 2026-03-01T07:05:09Z.');
  return {
    table: table === '' ? undefined : table,
    scope: known,
    includeRetired: include_retired === true,
    since: from,
  };
}

function wrong(field: string, message: string): PenstockError {
  return new PenstockError('pipeline.execution.invalid_parameter_type', {
    message,
    details: { field, reason: 'field' },
  });
}
