import type { TransientStore } from '../transient-store.js';
import type { UnavailableReason } from '../transient-unavailable.js';

/** Calls that have a name, arguments and one answer; a subscription has many, and to close is not the other side's business. */
export const STORE_CALLS = [
  'claim',
  'markStarted',
  'takeOver',
  'release',
  'beginResult',
  'putChunk',
  'publishResult',
  'storeResult',
  'resultMeta',
  'countChunks',
  'readChunks',
  'discardResult',
  'appendEvents',
  'readEvents',
  'requestCancel',
  'readCancels',
  'clearCancel',
  'acquire',
  'renew',
  'releaseLease',
  'touchWatcher',
  'hasWatcher',
  'hit',
  'ghostLock',
  'countGhostFailure',
  'useOnce',
  'rememberWorkspace',
  'lastWorkspace',
  'keepDocument',
  'keptDocument',
  'beatInstance',
  'instances',
  'publish',
  'health',
] as const satisfies readonly (keyof TransientStore)[];

export type StoreCall = (typeof STORE_CALLS)[number];

/** What the user of a store sends to its owner. */
export type StoreRequest =
  | { kind: 'call'; id: number; call: StoreCall; args: readonly unknown[] }
  | { kind: 'subscribe'; id: number; channel: string }
  | { kind: 'unsubscribe'; id: number; subscription: number };

/** What comes back. `subscription` is the id of the request that asked for it. */
export type StoreReply =
  | { kind: 'done'; id: number; value?: unknown }
  | { kind: 'failed'; id: number; unavailable: UnavailableReason | undefined; message: string }
  | { kind: 'ready'; subscription: number }
  | { kind: 'message'; subscription: number; message: string };
