import type { MessagePort } from 'node:worker_threads';
import type { TransientStore } from '../transient-store.js';
import { TransientUnavailable } from '../transient-unavailable.js';
import { untilAborted } from '../until-aborted.js';
import { STORE_CALLS, type StoreReply, type StoreRequest } from './store-calls.js';

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface Subscriber {
  onMessage(message: string): void;
  onReady?: (() => void) | undefined;
}

type Call = (...args: unknown[]) => Promise<unknown>;

/** The store of another thread of this process, over a port that `serveTransientStore` answers. */
export function transientStoreOver(port: MessagePort): TransientStore {
  const conversation = new Conversation(port);
  const calls = Object.fromEntries(
    STORE_CALLS.map((call): [string, Call] => [
      call,
      (...given) => {
        const last = given.at(-1);
        const signal = last instanceof AbortSignal ? last : undefined;
        const args = signal ? given.slice(0, -1) : given;
        return untilAborted(conversation.ask({ kind: 'call', call, args }), signal);
      },
    ]),
  );
  return Object.assign(calls, {
    subscribe: (channel: string, onMessage: (message: string) => void, onReady?: () => void) =>
      conversation.subscribe(channel, { onMessage, onReady }),
    close: () => conversation.close(),
  }) as unknown as TransientStore;
}

/** Questions and their answers, by number. */
class Conversation {
  readonly #waiting = new Map<number, Waiting>();
  readonly #subscribers = new Map<number, Subscriber>();
  #lastId = 0;
  #closed = false;

  constructor(private readonly port: MessagePort) {
    port.on('message', (reply: StoreReply) => this.#hear(reply));
    port.on('close', () => this.#end());
  }

  ask(request: DistributedOmit<StoreRequest, 'id'>, id = ++this.#lastId): Promise<unknown> {
    if (this.#closed) return Promise.reject(new TransientUnavailable());
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.port.postMessage({ ...request, id });
    });
  }

  async subscribe(channel: string, subscriber: Subscriber): Promise<() => Promise<void>> {
    const subscription = ++this.#lastId;
    this.#subscribers.set(subscription, subscriber);
    await this.ask({ kind: 'subscribe', channel }, subscription);
    return async () => {
      this.#subscribers.delete(subscription);
      if (!this.#closed) await this.ask({ kind: 'unsubscribe', subscription });
    };
  }

  close(): Promise<void> {
    this.port.close();
    this.#end();
    return Promise.resolve();
  }

  #hear(reply: StoreReply): void {
    if (reply.kind === 'message') return this.#subscribers.get(reply.subscription)?.onMessage(reply.message);
    if (reply.kind === 'ready') return this.#subscribers.get(reply.subscription)?.onReady?.();
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.kind === 'done') return waiting?.resolve(reply.value);
    const { unavailable, message } = reply;
    waiting?.reject(unavailable ? new TransientUnavailable({ reason: unavailable }) : new TypeError(message));
  }

  #end(): void {
    this.#closed = true;
    for (const { reject } of this.#waiting.values()) reject(new TransientUnavailable());
    this.#waiting.clear();
  }
}

type DistributedOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
