import type { Logger } from '#libs/kernel';
import type { TransientStore } from './transient-store.js';

const VERSION = 1;

/** What a message says, each value still to be judged by who hears it. */
export type Heard = Readonly<Record<string, unknown>>;

/**
 * One channel between instances whose messages are `{v, …}` in JSON. What another version or a stranger says is passed
 * over; a message that cannot be sent costs those who would have heard it some time, is logged, and fails no act.
 */
export class VersionedChannel {
  constructor(
    private readonly store: TransientStore,
    private readonly log: Logger,
    private readonly channel: string,
    /** Said in the log of a message that was not sent. */
    private readonly unsent: string,
  ) {}

  /** `logged`: what the log says of a message that was not sent. Never rejects. */
  async publish(fields: Readonly<Record<string, string>>, logged: Readonly<Record<string, string>>): Promise<void> {
    try {
      await this.store.publish(this.channel, JSON.stringify({ v: VERSION, ...fields }));
    } catch (error) {
      this.log.warn(this.unsent, { ...logged, error });
    }
  }

  /** Resolves when messages arrive; `onReady` comes then, and after every gap. */
  subscribe(onMessage: (heard: Heard) => void, onReady: () => void): Promise<() => Promise<void>> {
    return this.store.subscribe(
      this.channel,
      (message) => {
        const heard = parse(message);
        if (heard) onMessage(heard);
      },
      onReady,
    );
  }
}

function parse(message: string): Heard | undefined {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const heard = (value ?? {}) as Heard;
  return heard['v'] === VERSION ? heard : undefined;
}
