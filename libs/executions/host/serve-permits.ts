import type { MessagePort } from 'node:worker_threads';
import { NodePermits, PermitBoard, type DatasourceLimits, type Permit } from '../scheduling/permit-board.js';
import { carried } from './carried-error.js';
import type { PermitAnswer, PermitRequest, PoolFigures } from './permit-messages.js';

/** What threads have told of the pools they ask for. */
class ToldLimits implements DatasourceLimits {
  readonly #figures = new Map<string, PoolFigures>();

  learn(figures: ReadonlyMap<string, PoolFigures>): void {
    for (const [name, each] of figures) this.#figures.set(name, each);
  }

  poolSize(name: string): number {
    return this.#figures.get(name)!.poolSize;
  }

  connectionTimeoutMs(name: string): number {
    return this.#figures.get(name)!.connectionTimeoutMs;
  }
}

/**
 * The one board of an instance whose executions run in threads: permits of a datasource are counted over all of them
 * (contract 02 §4). What a thread holds is given back when its port closes.
 */
export class ServedPermits {
  readonly #limits = new ToldLimits();
  readonly #board = new PermitBoard(this.#limits);

  get waiting(): number {
    return this.#board.waiting;
  }

  serve(port: MessagePort): void {
    const sets = new Map<number, { permits: NodePermits; users: number }>();
    const held = new Map<number, Permit>();
    const waiting = new Map<number, AbortController>();
    const answer = (message: PermitAnswer) => port.postMessage(message);
    const take = async ({ id, set, limit, datasources }: PermitRequest & { kind: 'take' }): Promise<void> => {
      const used = sets.get(set) ?? { permits: new NodePermits(limit), users: 0 };
      sets.set(set, used);
      used.users++;
      const leave = () => {
        if (--used.users === 0) sets.delete(set);
      };
      const stop = new AbortController();
      waiting.set(id, stop);
      try {
        const permit = await this.#board.take(used.permits, datasources, stop.signal);
        held.set(id, {
          release: () => {
            permit.release();
            leave();
          },
        });
        answer({ kind: 'granted', id });
      } catch (error) {
        leave();
        if (!stop.signal.aborted) answer({ kind: 'refused', id, error: carried(error) });
      } finally {
        waiting.delete(id);
      }
    };
    const release = (id: number) => {
      held.get(id)?.release();
      held.delete(id);
    };
    port.on('message', (request: PermitRequest) => {
      if (request.kind === 'take') {
        this.#limits.learn(request.figures);
        return void take(request);
      }
      // Granted in the same moment: the other side has already turned away.
      if (request.kind === 'giveUp') waiting.get(request.id)?.abort();
      release(request.id);
    });
    port.on('close', () => {
      for (const stop of waiting.values()) stop.abort();
      for (const id of [...held.keys()]) release(id);
    });
  }
}
