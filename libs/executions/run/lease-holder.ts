import type { Lease } from '#libs/datasources';

/**
 * The connections one node has leased. They go back in good order when the node is done with them, and are destroyed when
 * it failed or was stopped: a late cancel must not hit the next statement on them.
 */
export class LeaseHolder {
  readonly #leases = new Set<Lease>();
  #cut = false;

  constructor(private readonly onProblem: (error: unknown) => void) {}

  async hold(leasing: Promise<Lease>): Promise<Lease> {
    const lease = await leasing;
    if (this.#cut) {
      await lease.release('destroy');
      throw new Error('The node was given up while it waited for a connection.');
    }
    this.#leases.add(lease);
    return lease;
  }

  /** Never rejects: what a node has achieved is not undone by a connection that would not go back. */
  async release(outcome: 'ok' | 'destroy'): Promise<void> {
    const leases = [...this.#leases];
    this.#leases.clear();
    for (const release of await Promise.allSettled(leases.map((lease) => lease.release(outcome)))) {
      if (release.status === 'rejected') this.onProblem(release.reason);
    }
  }

  /** Destroys what is held, and what the abandoned work may still lease later. */
  async cut(): Promise<void> {
    this.#cut = true;
    await this.release('destroy');
  }
}
