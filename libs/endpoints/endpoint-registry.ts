import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { InvalidationBus } from '#libs/transient';
import { KeyBindingRepository, type KeyBinding } from './key-binding.repository.js';
import { PathMatcher, type PathMatch } from './path-matcher.js';
import { ancestors } from './path-pattern.js';
import { allEndpoints, type PublishedEndpoint } from './published-endpoint.js';

/** Older than this and the rows are read again, whether or not anybody announced a change (03 §7). */
const MAX_AGE_MS = 30_000;

interface Snapshot {
  matcher: PathMatcher<PublishedEndpoint>;
  /** `workspace id` + node → bindings there. */
  bindings: ReadonlyMap<string, readonly KeyBinding[]>;
}

/**
 * What this deployment serves below `/api/x`, in memory. Dropped by a nudge on the invalidation channel, and never
 * older than half a minute; a load that began before a nudge is not kept.
 */
@Injectable()
export class EndpointRegistry implements OnApplicationBootstrap, OnApplicationShutdown {
  #snapshot: Promise<Snapshot> | undefined;
  #loadedAt = 0;
  #unsubscribe: (() => void) | undefined;

  constructor(
    private readonly database: Database,
    private readonly bindings: KeyBindingRepository,
    private readonly bus: InvalidationBus,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.#unsubscribe = this.bus.subscribe(({ kind }) => {
      if (kind === 'endpoint' || kind === 'workspace' || kind === 'all') this.#drop();
    });
  }

  onApplicationShutdown(): void {
    this.#unsubscribe?.();
  }

  /** `rawPath` is the raw URL path below `/api/x`. */
  async match(rawPath: string): Promise<PathMatch<PublishedEndpoint> | undefined> {
    return (await this.#current()).matcher.match(rawPath);
  }

  /** Bindings of the deepest node at or above the pattern that has any in the endpoint's workspace; empty if none. */
  async decidingBindings(endpoint: PublishedEndpoint): Promise<readonly KeyBinding[]> {
    const { bindings } = await this.#current();
    for (const node of ancestors(endpoint.pattern.text)) {
      const found = bindings.get(`${endpoint.workspaceId} ${node}`);
      if (found) return found;
    }
    return [];
  }

  /** After a commit that changed a row: here at once, elsewhere by the nudge. */
  async announceChange(): Promise<void> {
    this.#drop();
    await this.bus.publish({ kind: 'endpoint', id: '*' });
  }

  #drop(): void {
    this.#snapshot = undefined;
  }

  #current(): Promise<Snapshot> {
    const now = this.clock.now().getTime();
    if (this.#snapshot && now - this.#loadedAt < MAX_AGE_MS) return this.#snapshot;
    const loading = this.#load();
    this.#snapshot = loading;
    this.#loadedAt = now;
    loading.catch(() => {
      if (this.#snapshot === loading) this.#drop();
    });
    return loading;
  }

  async #load(): Promise<Snapshot> {
    const [endpoints, rows] = await Promise.all([allEndpoints(this.database), this.bindings.all()]);
    const serving = endpoints.filter(({ isEnabled, workspaceActive }) => isEnabled && workspaceActive);
    const bindings = new Map<string, KeyBinding[]>();
    for (const row of rows) {
      const node = `${row.workspaceId} ${row.pathPrefix}`;
      bindings.set(node, [...(bindings.get(node) ?? []), row]);
    }
    return {
      matcher: new PathMatcher(serving.map((endpoint) => ({ pattern: endpoint.pattern, target: endpoint }))),
      bindings,
    };
  }
}
