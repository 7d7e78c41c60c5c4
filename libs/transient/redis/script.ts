import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A Lua script, sent by its hash; its text follows only when Redis does not know it (after a restart, say). */
export class Script {
  readonly #sha: string;

  constructor(private readonly text: string) {
    this.#sha = createHash('sha1').update(text).digest('hex');
  }

  async run(redis: Redis, keys: readonly string[], args: readonly (string | number | Uint8Array)[]): Promise<unknown> {
    const values = args.map((value) =>
      value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value,
    );
    try {
      return await redis.evalsha(this.#sha, keys.length, ...keys, ...values);
    } catch (error) {
      if (replyCode(error) !== 'NOSCRIPT') throw error;
      return redis.eval(this.text, keys.length, ...keys, ...values);
    }
  }
}

/** The code of an error reply: by the protocol, its first word in capitals. */
export function replyCode(error: unknown): string | undefined {
  return error instanceof Error ? /^[A-Z]+(?= )/.exec(error.message)?.[0] : undefined;
}
