/** A reserved idempotency key (02 §7). `state` is `reserved` until the execution's row exists, then `started`. */
export interface IdempotencyClaim {
  executionId: string;
  requestHash: string;
  state: 'reserved' | 'started';
  /** Milliseconds since the claim was made, by the store's clock. */
  ageMs: number;
}

export interface ClaimKey {
  userId: string;
  /** The `Idempotency-Key` as sent; the store hashes it. */
  key: string;
}

/** What is kept beside the rows of a stored result; written last, so its presence means the rows are complete. */
export interface ResultMeta {
  /** Column descriptors as JSON text. */
  schemaJson: string;
  totalRows: number;
  /** UTF-8 bytes of the row arrays before compression. */
  bytes: number;
  /** First row number of each chunk, ascending. */
  chunkStarts: readonly number[];
  warningsJson: string;
  /** How the bytes of the chunks are packed, in the word of the writer: a reader of another version may know another. */
  encoding: string;
}

/** A published result as it was read again, behind the act that made it visible. */
export interface StoredAgain {
  /** RFC 3339 UTC, by the store's clock. */
  expiresAt: string;
  /** By its meta. */
  totalRows: number;
  chunks: number;
}

export interface PublishedResult extends ResultMeta {
  /** RFC 3339 UTC, by the store's clock; reads never extend it. */
  expiresAt: string;
}

/** One event of an execution's short-lived log. */
export interface LoggedEvent {
  eventId: number;
  type: string;
  /** Emission time, RFC 3339 UTC with microseconds. */
  timestamp: string;
  /** The payload as one line of JSON. */
  payload: string;
}

/** What goes into one execution's log: how long it lives from its first event on, and whether these are its last. */
export interface EventAppend {
  executionId: string;
  events: readonly LoggedEvent[];
  ttlSeconds: number;
  sealed: boolean;
}

/** Running executions, open streams, probes of datasources. */
export type LeaseKind = 'slots' | 'sse' | 'probes';

export interface WindowLimit {
  /** Length of the fixed window: one second or one minute. */
  seconds: number;
  limit: number;
}

export interface WindowCount {
  count: number;
  resetAtSeconds: number;
  nowSeconds: number;
}

/** How a subject of failed attempts stands. */
export interface FailureLock {
  /** Failures since the last lock, this one included. */
  failures: number;
  /** Set when the subject is locked: RFC 3339 UTC, by the store's clock. */
  lockedUntil?: string;
}

export interface InstanceBeat {
  instanceId: string;
  /** As it was given. */
  state: string;
  /** Milliseconds since. */
  ageMs: number;
}

/**
 * What is short-lived and shared by all instances (02 §8). Redis in production, memory in one embedded process; one
 * contract suite holds both to the same behaviour. A store that cannot answer rejects with `TransientUnavailable`.
 */
export abstract class TransientStore {
  // Idempotency
  /** Reserves the key for this execution, or tells who holds it. Asking again for the same execution wins again. */
  abstract claim(
    key: ClaimKey,
    claim: { executionId: string; requestHash: string },
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<{ won: true } | { won: false; held: IdempotencyClaim }>;
  /** Marks the claim as started, if it still holds this execution; false otherwise. */
  abstract markStarted(key: ClaimKey, executionId: string, signal?: AbortSignal): Promise<boolean>;
  /** Replaces a claim whose starter died: compare-and-set on its execution id. */
  abstract takeOver(
    key: ClaimKey,
    from: string,
    claim: { executionId: string; requestHash: string },
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<boolean>;
  /** Deletes the claim only if it still holds this execution. */
  abstract release(key: ClaimKey, executionId: string, signal?: AbortSignal): Promise<void>;

  // Results
  /** Forgets an earlier result of the execution. `first` is chunk 0, where the writer has it already. */
  abstract beginResult(
    executionId: string,
    drainTtlSeconds: number,
    first?: Uint8Array,
    signal?: AbortSignal,
  ): Promise<void>;
  /** Rejects (`lost`) unless the result was begun and neither published nor discarded: no chunk outlives its result. */
  abstract putChunk(executionId: string, index: number, bytes: Uint8Array, signal?: AbortSignal): Promise<void>;
  /**
   * Writes meta last and gives rows and meta the same fixed expiry, then reads again how many rows the meta tells and how
   * many chunks there are. Rejects (`lost`) when the stored chunks are not as many as `meta.chunkStarts`.
   */
  abstract publishResult(
    executionId: string,
    meta: ResultMeta,
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<StoredAgain>;
  /** Begins, writes and publishes a result of one chunk (`meta.chunkStarts` is `[0]`) or none, in one act. */
  abstract storeResult(
    executionId: string,
    chunk: Uint8Array | undefined,
    meta: ResultMeta,
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<StoredAgain>;
  abstract resultMeta(executionId: string, signal?: AbortSignal): Promise<PublishedResult | undefined>;
  /** Number of stored chunks, to verify a result before it is served. */
  abstract countChunks(executionId: string, signal?: AbortSignal): Promise<number>;
  /** Chunks in the asked order; undefined where one is gone. */
  abstract readChunks(
    executionId: string,
    indexes: readonly number[],
    signal?: AbortSignal,
  ): Promise<(Uint8Array | undefined)[]>;
  abstract discardResult(executionId: string, signal?: AbortSignal): Promise<void>;

  // Event log
  /**
   * Appends what is not there yet, by ascending event id; nothing behind a last event (02 §10.1). The first append decides
   * the expiry until the log is sealed: that of an ended execution lives one more hour. Then nudges the watchers on
   * `dp:bus:events` with the execution's id: whoever is woken finds the events. When it rejects, logs ahead of the one
   * that could not be written may have got theirs: to send all of them again is right.
   */
  abstract appendEvents(logs: readonly EventAppend[], signal?: AbortSignal): Promise<void>;
  abstract readEvents(executionId: string, after: number, limit: number, signal?: AbortSignal): Promise<LoggedEvent[]>;

  // Cancellation
  /** Sets the flag, unless one is set already, and nudges the owner on `dp:bus:cancel` with the execution's id. */
  abstract requestCancel(executionId: string, reason: string, ttlSeconds: number, signal?: AbortSignal): Promise<void>;
  abstract readCancels(executionIds: readonly string[], signal?: AbortSignal): Promise<Map<string, string>>;
  abstract clearCancel(executionId: string, signal?: AbortSignal): Promise<void>;

  // Leases: slots of a user's runs, streams of a user
  /** False when the user already holds `limit` leases. */
  abstract acquire(
    kind: LeaseKind,
    userId: string,
    leaseId: string,
    limit: number,
    leaseSeconds: number,
    signal?: AbortSignal,
  ): Promise<boolean>;
  /** Extends leases; one that had lapsed meanwhile is taken again, because what it stands for still runs. */
  abstract renew(
    kind: LeaseKind,
    userId: string,
    leaseIds: readonly string[],
    leaseSeconds: number,
    signal?: AbortSignal,
  ): Promise<void>;
  abstract releaseLease(kind: LeaseKind, userId: string, leaseId: string, signal?: AbortSignal): Promise<void>;

  // Watchers of attached runs
  abstract touchWatcher(executionId: string, ttlSeconds: number, signal?: AbortSignal): Promise<void>;
  abstract hasWatcher(executionId: string, signal?: AbortSignal): Promise<boolean>;

  // Rate windows
  /** Counts one hit in every window at once; fixed windows by the store's clock. */
  abstract hit(subject: string, windows: readonly WindowLimit[], signal?: AbortSignal): Promise<WindowCount[]>;

  // Failed sign-ins of addresses that no account with a password has (04 §4.2)
  /** When the lock of a subject ends, the same at every reading; undefined while it is open. */
  abstract ghostLock(subject: string, signal?: AbortSignal): Promise<string | undefined>;
  /** Counts a failure; the one that reaches the limit locks. Undefined when another attempt has locked it meanwhile. */
  abstract countGhostFailure(
    subject: string,
    rules: { limit: number; lockSeconds: number; keepSeconds: number },
    signal?: AbortSignal,
  ): Promise<FailureLock | undefined>;

  // What is used once
  /** True for the first to ask within the time, false for everybody after. */
  abstract useOnce(subject: string, ttlSeconds: number, signal?: AbortSignal): Promise<boolean>;

  // The workspace a person chose last (04 §7.2)
  abstract rememberWorkspace(
    userId: string,
    workspaceId: string,
    ttlSeconds: number,
    signal?: AbortSignal,
  ): Promise<void>;
  abstract lastWorkspace(userId: string, signal?: AbortSignal): Promise<string | undefined>;

  // Persisted operations of GraphQL (03 §12)
  /** Keeps a document under the SHA-256 of its text. */
  abstract keepDocument(sha256: string, document: string, ttlSeconds: number, signal?: AbortSignal): Promise<void>;
  abstract keptDocument(sha256: string, signal?: AbortSignal): Promise<string | undefined>;

  // Signs of life of the servers themselves
  /** Says that a server lives, and what it says of itself. Forgotten by `instances` after `keepSeconds`. */
  abstract beatInstance(instanceId: string, state: string, keepSeconds: number, signal?: AbortSignal): Promise<void>;
  /** Everybody who said so lately, with the time since, by the store's clock. */
  abstract instances(signal?: AbortSignal): Promise<InstanceBeat[]>;

  // Nudges; they may be lost, every consumer also polls
  abstract publish(channel: string, message: string, signal?: AbortSignal): Promise<void>;
  /** `onReady` runs at every (re)subscription; resolves when subscribed. Returns the unsubscribe. */
  abstract subscribe(
    channel: string,
    onMessage: (message: string) => void,
    onReady?: () => void,
  ): Promise<() => Promise<void>>;

  /** Address and port of the server that is in charge now, as last seen; undefined where there is none. */
  get server(): { host: string; port: number } | undefined {
    return undefined;
  }

  /** Rejects when the store is down. */
  abstract health(signal?: AbortSignal): Promise<void>;
  abstract close(): Promise<void>;
}

/** Nudges between instances. */
export const CHANNELS = {
  events: 'dp:bus:events',
  cancel: 'dp:bus:cancel',
  invalidate: 'dp:bus:invalidate',
  content: 'dp:bus:content',
} as const;
