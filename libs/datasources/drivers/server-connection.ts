import { abortable, DriverFailure } from './driver-failure.js';
import type { BoundStatement } from './driver.js';
import { Stopper, type Line, type StatementCanceller, type StopperOptions } from './stopper.js';

/**
 * A session on a server: its statements can be stopped there, it answers within a time or not at all, and it is put back
 * to its first state before it is lent again. Each dialect says how.
 */
export abstract class ServerConnection {
  readonly serves = 'both';
  readonly #line: Line;
  readonly #stopper: Stopper;

  protected constructor(line: Line, canceller: StatementCanceller, options?: StopperOptions) {
    this.#line = line;
    this.#stopper = new Stopper(line, canceller, options);
  }

  /** The rows of one of the driver's own queries, in a read-only transaction that is rolled back. */
  protected abstract readCatalog(statement: BoundStatement): Promise<(string | null)[][]>;
  /** One round trip. */
  protected abstract answer(): Promise<unknown>;
  /** Ends any transaction and forgets what the session holds. */
  protected abstract putBack(): Promise<unknown>;

  get usable(): boolean {
    return this.#stopper.usable;
  }

  /** False when something ran whose traces {@link putBack} cannot take away. */
  protected get restorable(): boolean {
    return true;
  }

  async catalog(statement: BoundStatement, signal: AbortSignal): Promise<(string | null)[][]> {
    return await this.stoppable(this.readCatalog(statement), signal);
  }

  /** Waits for work of this connection; an abort stops it in the server and gives the connection up (02 §5.2). */
  stoppable<T>(work: Promise<T>, signal: AbortSignal, onStop?: () => void): Promise<T> {
    return this.#stopper.stoppable(work, signal, onStop);
  }

  /** For a COMMIT: what the server answered stands, however late the abort came. */
  completion<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#stopper.completion(work, signal);
  }

  /** Stops what the connection is doing and cuts it. */
  abandon(work: Promise<unknown>): Promise<void> {
    return this.#stopper.abandon(work);
  }

  async ping(timeoutMs: number): Promise<void> {
    await abortable(this.answer(), AbortSignal.timeout(timeoutMs));
  }

  async reset(): Promise<boolean> {
    if (!this.usable || !this.restorable) return false;
    try {
      await this.putBack();
      return this.usable;
    } catch (error) {
      if (error instanceof DriverFailure) return false;
      throw error;
    }
  }

  destroy(): void {
    this.#line.destroy();
  }
}
