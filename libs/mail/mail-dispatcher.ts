import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AuditLog, type AuditActor } from '#libs/audit';
import { Logger } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { MailClaimRepository, type MailClaim } from './mail-claims.repository.js';
import { composeMessage } from './mail-message.js';
import { MailSettings } from './mail-settings.js';
import { MailTransport, type Delivery } from './mail-transport.js';
import type { Notice } from './notice.js';

const WORKERS = 2;
const QUEUE = 100;
/** Waits after an attempt that reached nobody; one attempt more than waits. */
const PAUSES_MS = [250, 1000];
type Settled = Exclude<Delivery, { outcome: 'interrupted' }>;

/** Longest wait for messages under way when the process ends. */
const FAREWELL_MS = 5000;

export interface MailJob {
  claim: MailClaim;
  notice: Notice;
  actor: AuditActor;
}

/**
 * Sends claimed messages off the request: two at a time, a hundred waiting; beyond, whoever brings one waits for it. A
 * message is handed over at most once in its life. What a process that died had not sent stays pending, and the remedy
 * is a new act (contract 04 §11).
 */
@Injectable()
export class MailDispatcher {
  readonly #waiting: MailJob[] = [];
  readonly #underWay = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #workers = 0;

  constructor(
    private readonly db: Database,
    private readonly claims: MailClaimRepository,
    private readonly transport: MailTransport,
    private readonly settings: MailSettings,
    private readonly audit: AuditLog,
    private readonly log: Logger,
  ) {}

  /** Resolves at once while there is room. Never rejects: a message never fails the act it tells about. */
  async submit(job: MailJob): Promise<void> {
    if (this.#waiting.length >= QUEUE) return this.#send(job);
    this.#waiting.push(job);
    if (this.#workers >= WORKERS) return;
    this.#workers += 1;
    const work = this.#work().finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  /** Waits until nothing is under way. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Gives what is under way a moment, then ends; what was not sent stays pending. */
  async stop(farewellMs = FAREWELL_MS): Promise<void> {
    const farewell = setTimeout(() => this.#stop.abort(), farewellMs);
    await this.settled();
    clearTimeout(farewell);
    this.#stop.abort();
  }

  async #work(): Promise<void> {
    for (let job = this.#waiting.shift(); job; job = this.#waiting.shift()) {
      await this.#send(job);
    }
    this.#workers -= 1;
  }

  async #send(job: MailJob): Promise<void> {
    const { claim } = job;
    if (this.#stop.signal.aborted) return this.#abandon(job);
    try {
      const message = composeMessage(claim.id, claim.recipient, job.notice, this.settings);
      const delivery = await this.#attempt(() => this.transport.deliver(message, this.#stop.signal));
      if (delivery.outcome === 'interrupted') this.#abandon(job);
      else await this.#record(job, message.messageId, delivery);
    } catch (error) {
      // The row stays pending: whether it was sent is not known to it, and it is not sent again.
      this.log.warn('mail.outcome_not_recorded', { kind: claim.kind, claim_id: claim.id, error });
    }
  }

  /** As if the process had died: the row stays pending (contract 04 §11). */
  #abandon({ claim }: MailJob): void {
    this.log.warn('mail.abandoned', { kind: claim.kind, claim_id: claim.id });
  }

  async #attempt(deliver: () => Promise<Delivery>): Promise<Delivery> {
    let delivery = await deliver();
    for (const pause of PAUSES_MS) {
      if (delivery.outcome !== 'unreachable') break;
      if (!(await this.#rest(pause))) return { outcome: 'interrupted' };
      delivery = await deliver();
    }
    return delivery;
  }

  /** False when the process ends meanwhile. */
  async #rest(ms: number): Promise<boolean> {
    const { signal } = this.#stop;
    try {
      await delay(ms, undefined, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return !signal.aborted;
  }

  /** The trail tells what the row keeps: an erasure meanwhile left no address in it. */
  async #record({ claim, actor }: MailJob, messageId: string, delivery: Settled): Promise<void> {
    const { id, kind, actId: act_id } = claim;
    await this.db.transaction(async (tx) => {
      if (delivery.outcome === 'accepted') {
        const to = await this.claims.markSent(tx, id, messageId);
        if (to !== undefined)
          await this.audit.append(tx, actor, 'mail.sent', { kind, to, act_id, message_id: messageId });
        return;
      }
      const kept = await this.claims.markFailed(tx, claim, delivery.reason);
      if (!kept) return;
      const { recipient: to, error } = kept;
      await this.audit.append(tx, actor, 'mail.failed', { kind, to, act_id, error });
      this.log.warn('mail.failed', { kind, claim_id: id, reason: error });
    });
  }
}
