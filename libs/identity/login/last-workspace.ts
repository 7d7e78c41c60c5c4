import { Injectable } from '@nestjs/common';
import { isUuid, Logger } from '#libs/kernel';
import { TransientStore, TransientUnavailable } from '#libs/transient';

const KEPT_SECONDS = 30 * 86_400;
/** A sign-in holds a transaction while it asks; a store that is slow must not hold it longer. */
const PATIENCE_MS = 500;

/** The workspace somebody chose last, for the next sign-in. A convenience: without the store nothing is lost (04 §7.2). */
@Injectable()
export class LastWorkspace {
  constructor(
    private readonly store: TransientStore,
    private readonly log: Logger,
  ) {}

  async of(userId: string): Promise<string | undefined> {
    const found = await this.#quietly(() => this.store.lastWorkspace(userId, AbortSignal.timeout(PATIENCE_MS)));
    return found !== undefined && isUuid(found) ? found : undefined;
  }

  async remember(userId: string, workspaceId: string): Promise<void> {
    await this.#quietly(() =>
      this.store.rememberWorkspace(userId, workspaceId, KEPT_SECONDS, AbortSignal.timeout(PATIENCE_MS)),
    );
  }

  async #quietly<T>(ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await ask();
    } catch (error) {
      const slow = error instanceof DOMException && error.name === 'TimeoutError';
      if (!slow && !(error instanceof TransientUnavailable)) throw error;
      this.log.warn('The workspace chosen last is not known: the store does not answer.', { error });
      return undefined;
    }
  }
}
