import { Injectable } from '@nestjs/common';
import { AuditObserver, type AuditActor, type AuditDetails } from '#libs/audit';
import {
  Clock,
  isPenstockError,
  type ActingWorkspace,
  type ErrorCode,
  type PenstockError,
  type Principal,
} from '#libs/kernel';
import type { OperationId } from '../operations.js';
import { addressBlock } from './address-block.js';
import { FloodLimit } from './flood-limit.js';

/** One row in so many uses of a key. */
const USE_SAMPLE = 100;

/** Refusals of a right, by what was judged (contract 04 §8). */
const DENIALS: Readonly<Record<string, string>> = {
  'auth.session.required': 'session',
  'workspace.session_required': 'session',
  'auth.scope.insufficient': 'scope',
  'workspace.membership_required': 'workspace',
  'auth.role_required': 'capability',
  'auth.key_issuer_role_lost': 'capability',
  'endpoint.key_not_bound': 'binding',
};

/** Of the refusals of a kind, those of a key off its surface and of one that nothing is bound to; others find fault with a body. */
const KIND_DENIALS: Readonly<Record<string, string>> = {
  server_key_off_surface: 'kind',
  endpoint_key_off_surface: 'kind',
  endpoint_key_unbound: 'binding',
};

/** The axis on which a right was denied; undefined for any other refusal. */
function deniedAxis({ code, details }: PenstockError): string | undefined {
  return code === 'endpoint.key_kind_refused' ? KIND_DENIALS[String(details['reason'])] : DENIALS[code];
}

interface Rejection {
  actor: AuditActor;
  reason: KeyRejection;
}

/** Why a promotion was turned away at the door; its sender is told none of it. */
export type PromotionRejection = KeyRejection | 'missing' | 'malformed' | 'other_kind';

/** A promotion turned away at the door, or refused behind it with a code. */
export type RejectedPromotion = AuditDetails<'auth.promotion.rejected'> & { reason: PromotionRejection | ErrorCode };

export type KeyRejection = 'unknown_or_revoked' | 'wrong' | 'expired' | 'owner_inactive' | 'workspace_inactive';

/** Audit rows about access itself. They are awaited and never fail the request; floods are cut (contract 04 §10). */
@Injectable()
export class AccessTrail {
  readonly #rejections: FloodLimit<Rejection>;
  /** Apart from the rejections of keys, whose rows alone tell how many were left out; of these a metric does. */
  readonly #denials: FloodLimit<void>;
  /** What the door said of a request, for as long as its principal lives. */
  readonly #requests = new WeakMap<Principal, { path?: string; method?: string; told: Set<string> }>();
  /** Refusals written down already: one passes several places on its way out. */
  readonly #denied = new WeakSet<PenstockError>();
  #malformed = 0;
  #denialsLeftOut = 0;
  #uses = 0;

  constructor(
    private readonly observer: AuditObserver,
    clock: Clock,
  ) {
    this.#rejections = new FloodLimit(clock, ({ actor, reason }, suppressed) =>
      this.observer.observe(actor, 'auth.api_key.rejected', { reason, suppressed }),
    );
    this.#denials = new FloodLimit(clock, () => Promise.resolve());
  }

  /** Malformed keys are counted, not audited: they name nothing. */
  keyMalformed(): void {
    this.#malformed += 1;
  }

  get malformedKeys(): number {
    return this.#malformed;
  }

  /** Denials, forged requests, refused workspaces and rejected promotions that were too many to be written down. */
  get denialsLeftOut(): number {
    return this.#denialsLeftOut;
  }

  /** The flood is that of the key, or of the network where nobody has such a key: those can be made up without end. */
  async keyRejected(actor: AuditActor & { keyId: string }, reason: KeyRejection): Promise<void> {
    const { keyId, sourceIp } = actor;
    const subject = reason === 'unknown_or_revoked' && sourceIp !== undefined ? addressBlock(sourceIp) : keyId;
    if (!(await this.#rejections.admit(subject, { actor, reason }))) return;
    await this.observer.observe(actor, 'auth.api_key.rejected', { reason });
  }

  /** Sixty rows a minute for each key that exists, and for each network that presents what is none. */
  async promotionRejected(actor: AuditActor, rejected: RejectedPromotion): Promise<void> {
    const known = actor.keyId !== undefined && rejected.reason !== 'unknown_or_revoked';
    const subject = known ? (actor.keyId as string) : addressBlock(actor.sourceIp ?? 'unknown');
    await this.#limited(`promotion ${subject}`, () =>
      this.observer.observe(actor, 'auth.promotion.rejected', rejected),
    );
  }

  async keyUsed(principal: Principal, path: string | undefined): Promise<void> {
    this.#uses += 1;
    if (this.#uses % USE_SAMPLE !== 0) return;
    await this.observer.observe(principal, 'auth.api_key.used', { path });
  }

  /**
   * A right that was judged and found wanting, by the guard or behind it; any other failure is none of its business, and
   * one refusal leaves one row wherever it passes.
   *
   * @param asked what the caller asked for; a refusal that names a narrower operation is recorded by that
   */
  async denied(principal: Principal, asked: string, refusal: unknown): Promise<void> {
    if (!isPenstockError(refusal) || this.#denied.has(refusal)) return;
    const axis = deniedAxis(refusal);
    if (axis === undefined) return;
    this.#denied.add(refusal);
    const { details } = refusal;
    // Refusals of a whole kind of credential name what is asked and what came instead.
    const came = axis === 'workspace' ? [] : (principal.keyKind ?? principal.method);
    const { required = details['reason'] ?? axis, held = came } = details;
    const operation = details['operation'] ?? asked;
    await this.#limited(principal.keyId ?? principal.userId, () =>
      this.observer.observe(principal, 'auth.scope.denied', { operation, axis, required, held }),
    );
  }

  /** Of strangers the flood is that of their network, which has addresses without end. */
  async csrfRejected(actor: AuditActor, path: string | undefined, reason: string): Promise<void> {
    await this.#limited(actor.userId ?? addressBlock(actor.sourceIp ?? 'unknown'), () =>
      this.observer.observe(actor, 'auth.csrf.rejected', { path, reason }),
    );
  }

  async workspaceRejected(actor: AuditActor, requested: string): Promise<void> {
    await this.#limited(actor.userId ?? 'unknown', () =>
      this.observer.observe(actor, 'auth.workspace.header_rejected', { requested }),
    );
  }

  /** Every operation of a super admin in a workspace he is no member of, reads included (contract 04 §7.2). */
  async superAdminActing(principal: Principal, operation: OperationId, path?: string, method?: string): Promise<void> {
    const request = { path, method, told: new Set<string>() };
    if (!this.#requests.has(principal)) this.#requests.set(principal, request);
    const { workspace } = principal;
    if (!workspace?.implicit) return;
    this.#requests.get(principal)?.told.add(`${operation} ${workspace.id}`);
    await this.observer.observe(principal, 'auth.super_admin_acting', { operation, path, method });
  }

  /**
   * The same of a workspace that a request reaches into beside its active one: one row for what a request does there by
   * one operation, however many fields of an answer it takes.
   */
  async superAdminActingIn(principal: Principal, workspace: ActingWorkspace, operation: OperationId): Promise<void> {
    if (!workspace.implicit) return;
    const { path, method, told } = this.#requests.get(principal) ?? { told: new Set<string>() };
    const act = `${operation} ${workspace.id}`;
    if (told.has(act)) return;
    told.add(act);
    await this.observer.observe({ ...principal, workspace }, 'auth.super_admin_acting', { operation, path, method });
  }

  /** Writes what the trail still owes: how many rejections it left out. */
  async close(): Promise<void> {
    await this.#rejections.close();
  }

  async #limited(subject: string, write: () => Promise<void>): Promise<void> {
    if (await this.#denials.admit(subject)) await write();
    else this.#denialsLeftOut += 1;
  }
}
