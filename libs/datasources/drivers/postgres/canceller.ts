import { dial, type DialTarget } from './dial.js';
import { type AddressCheck } from '../tcp.js';
import { cancelRequest } from './messages.js';

const RESEND_EVERY_MS = 250;
const RESEND_FOR_MS = 2000;

/**
 * Stops the statement a connection is running: a CancelRequest on a socket of its own, sent again every 250 ms for 2 s
 * until the statement has answered (02 §5.2). It needs no pool slot and no login.
 */
export class Canceller {
  readonly #target: DialTarget;
  readonly #check: AddressCheck;
  readonly #request: Buffer;

  constructor(target: DialTarget, check: AddressCheck, processId: number, secretKey: number) {
    this.#target = target;
    this.#check = check;
    this.#request = cancelRequest(processId, secretKey);
  }

  /** Resolves when `statement` has settled, or after 2 s without an answer. Never rejects. */
  async stop(statement: Promise<unknown>): Promise<void> {
    let answered = false;
    const settled = statement.then(
      () => void (answered = true),
      () => void (answered = true),
    );
    const over = new AbortController();
    const requests: Promise<void>[] = [];
    for (let waited = 0; waited < RESEND_FOR_MS && !answered; waited += RESEND_EVERY_MS) {
      requests.push(this.#send(over.signal));
      const pause = new AbortController();
      await Promise.race([settled, delay(RESEND_EVERY_MS, pause.signal)]);
      pause.abort();
    }
    over.abort();
    await Promise.all(requests);
  }

  async #send(signal: AbortSignal): Promise<void> {
    try {
      const socket = await dial(this.#target, this.#check, signal);
      await new Promise<void>((resolve) => {
        // The server closes the socket once it has passed the request on.
        socket.once('close', () => resolve());
        signal.addEventListener('abort', () => socket.destroy(), { once: true });
        if (signal.aborted) socket.destroy();
        socket.resume();
        socket.end(this.#request);
      });
    } catch {
      // The statement's own connection reports what is wrong with the server; this request is only a favour.
    }
  }
}

function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done, { once: true });
  });
}
