import { Injectable } from '@nestjs/common';

import { AuditLog } from '#libs/audit';
import { DatasourceAccess } from '#libs/datasources';
import { authorise, type OperationId } from '#libs/identity';
import { PenstockError, type ActingWorkspace, type Principal } from '#libs/kernel';
import { Database, type Transaction } from '#libs/persistence';

import { factNotFound, refuseForeign } from './fact-access.js';
import { FactRepository } from './fact.repository.js';
import type { LearnedFact } from './learned-fact.js';
import { factInvalid, idOf } from './recording/fact-body.js';
import { LiveRefs } from './recording/live-refs.js';
import { characterCount, readableText } from './rules/fact-text.js';

const REASON_CHARS = 500;

/** What people decide about a recorded fact: that it holds, or that it is over. */
@Injectable()
export class FactStanding {
  constructor(
    private readonly db: Database,
    private readonly facts: FactRepository,
    private readonly datasources: DatasourceAccess,
    private readonly liveRefs: LiveRefs,
    private readonly audit: AuditLog,
  ) {}

  /** Ends a fact; one that is retired already stays as it is. @throws 404 `semantics.not_found`, 403 `auth.role_required` */
  async retire(principal: Principal, id: string, reason: unknown): Promise<LearnedFact> {
    const { workspace, fact } = await this.#judgeable(principal, 'semantic.retire', id);
    const text = reasonText(reason);
    return await this.db.transaction(async (tx) => {
      await this.#holdDatasource(tx, workspace, fact);
      if (await this.facts.retire(tx, fact.id, text)) {
        await this.audit.append(tx, principal, 'semantics.retired', {
          fact_id: fact.id,
          kind: fact.kind,
          scope: fact.scope,
          datasource: fact.datasource,
          trust: 'retired',
          via: principal.surface,
          reason: text,
        });
      }
      return await this.#again(tx, workspace, fact.id);
    });
  }

  /**
   * A person has looked: the fact holds for the tables as they are now.
   * @throws 400 `semantics.ref_unresolved`, 404 `semantics.not_found` (also for a retired one)
   */
  async verify(principal: Principal, id: string, gaveUp?: AbortSignal): Promise<LearnedFact> {
    const { workspace, fact } = await this.#judgeable(principal, 'semantic.verify', id);
    if (fact.trust === 'retired') throw retired(fact);
    const source = await this.datasources.live(workspace.id, fact.datasource);
    if (!source) throw factNotFound(id);
    const seen = await this.liveRefs.fingerprint(source, fact.refs, gaveUp);
    return await this.db.transaction(async (tx) => {
      await this.#holdDatasource(tx, workspace, fact);
      if (!(await this.facts.verify(tx, fact.id, principal.userId, seen))) throw retired(fact);
      await this.audit.append(tx, principal, 'semantics.verified', {
        fact_id: fact.id,
        kind: fact.kind,
        scope: fact.scope,
        datasource: fact.datasource,
        trust: 'verified',
        via: principal.surface,
      });
      return await this.#again(tx, workspace, fact.id);
    });
  }

  async #judgeable(
    principal: Principal,
    operation: OperationId,
    id: string,
  ): Promise<{ workspace: ActingWorkspace; fact: LearnedFact }> {
    const workspace = authorise(principal, operation);
    const known = idOf(id);
    const fact = known === undefined ? undefined : await this.facts.find(this.db, workspace.id, known);
    if (!fact) throw factNotFound(id);
    refuseForeign(workspace, operation, fact);
    return { workspace, fact };
  }

  /** A grant revoked since the look ends the act here, as if the fact were not there; a later one waits for the commit. */
  async #holdDatasource(tx: Transaction, workspace: ActingWorkspace, { id, datasource }: LearnedFact): Promise<void> {
    const held = await this.datasources.visibleForShare(tx, workspace.id, [datasource]);
    if (!held.has(datasource)) throw factNotFound(id);
  }

  async #again(tx: Transaction, workspace: ActingWorkspace, id: string): Promise<LearnedFact> {
    const fact = await this.facts.find(tx, workspace.id, id);
    if (!fact) throw factNotFound(id);
    return fact;
  }
}

function retired({ id }: LearnedFact): PenstockError {
  return factNotFound(id, 'This fact is retired. Record it again if it holds after all.');
}

function reasonText(value: unknown): string {
  const text = typeof value === 'string' ? readableText(value) : undefined;
  if (text === undefined || text === '' || characterCount(text) > REASON_CHARS)
    throw factInvalid('reason', `it says why in 1 to ${REASON_CHARS} visible characters.`);
  return text;
}
