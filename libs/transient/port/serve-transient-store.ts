import type { MessagePort } from 'node:worker_threads';
import type { TransientStore } from '../transient-store.js';
import { TransientUnavailable } from '../transient-unavailable.js';
import type { StoreReply, StoreRequest } from './store-calls.js';

/**
 * Lets another thread of this process use a store that lives here. Returns what ends it: subscriptions of the other side
 * end with it.
 */
export function serveTransientStore(port: MessagePort, store: TransientStore): () => Promise<void> {
  const subscriptions = new Map<number, () => Promise<void>>();
  const reply = (message: StoreReply) => port.postMessage(message);
  const answer = async (request: StoreRequest): Promise<unknown> => {
    switch (request.kind) {
      case 'call': {
        const member = store[request.call] as (...args: readonly unknown[]) => Promise<unknown>;
        return member.apply(store, request.args as unknown[]);
      }
      case 'subscribe': {
        const { id: subscription, channel } = request;
        const end = await store.subscribe(
          channel,
          (message) => reply({ kind: 'message', subscription, message }),
          () => reply({ kind: 'ready', subscription }),
        );
        return void subscriptions.set(subscription, end);
      }
      case 'unsubscribe': {
        const end = subscriptions.get(request.subscription);
        subscriptions.delete(request.subscription);
        return end?.();
      }
    }
  };
  port.on('message', (request: StoreRequest) => {
    const { id } = request;
    answer(request).then(
      (value) => reply({ kind: 'done', id, value }),
      (error: unknown) => {
        const unavailable = error instanceof TransientUnavailable ? error.reason : undefined;
        reply({ kind: 'failed', id, unavailable, message: error instanceof Error ? error.message : String(error) });
      },
    );
  });
  return async () => {
    port.close();
    await Promise.all([...subscriptions.values()].map((end) => end()));
    subscriptions.clear();
  };
}
