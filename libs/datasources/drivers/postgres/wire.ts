import type { Socket } from 'node:net';

import { DriverFailure } from '../driver-failure.js';
import { listenAnew, onSilence } from '../silence.js';
import { asConnectionFailure } from '../tcp.js';
import { MESSAGE, readErrorFields } from './messages.js';

/** Receives each backend message of the exchange under way; `body` bounds lie in `buffer` and are valid only during the call. */
export interface MessageConsumer {
  message(type: number, buffer: Buffer, start: number, end: number): void;
  /** The connection is gone; nothing more will come. */
  closed(failure: DriverFailure): void;
}

/** What the server's last ReadyForQuery said: idle, in a transaction, in a failed one. */
export type TransactionStatus = 'I' | 'T' | 'E';

const HEADER = 5;

/**
 * An authenticated connection's socket, read message by message. Data events are taken over from the connection that
 * logged in, so a DataRow goes from the socket's chunk into its vectors without an object in between.
 */
export class PostgresWire {
  readonly #socket: Socket;
  status: TransactionStatus = 'I';
  #consumer: MessageConsumer | null = null;
  #exchanges = 0;
  #closed: DriverFailure | null = null;
  #paused = false;
  /** Chunks of a message that is not complete yet, and how many bytes it takes. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #needed = 0;
  /** Sent when a message arrives in pieces; null = nothing is. */
  #nudge: Buffer | null = null;
  /** The server's last FATAL text (57P01 …): it explains the close that follows. */
  #farewell: DriverFailure | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.removeAllListeners('data');
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#close(asConnectionFailure(error)));
    socket.on('close', () =>
      this.#close(new DriverFailure('connection', 'The server closed the connection.', { driverCode: 'ECONNRESET' })),
    );
    socket.resume();
  }

  get isLost(): boolean {
    return this.#closed !== null;
  }

  /** How many exchanges were begun on it. */
  get exchanges(): number {
    return this.#exchanges;
  }

  /** Bytes written and not yet taken by the kernel; a writer of many batches waits for `drained()`. */
  get congested(): boolean {
    return this.#socket.writableNeedDrain;
  }

  async drained(): Promise<void> {
    if (!this.congested || this.#closed) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#socket.removeListener('drain', done);
        this.#socket.removeListener('close', done);
        resolve();
      };
      this.#socket.once('drain', done);
      this.#socket.once('close', done);
    });
  }

  /** The server is heard no further than the chunk at hand: its rows wait in the network, and it waits with them. */
  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    listenAnew(this.#socket);
    this.#socket.resume();
  }

  /**
   * Sends one exchange's messages in a single write and makes `consumer` the reader of everything that follows; with no
   * messages, of the answers to what was sent before.
   */
  exchange(messages: readonly Buffer[], consumer: MessageConsumer): void {
    if (this.#closed) {
      consumer.closed(this.#closed);
      return;
    }
    this.#consumer = consumer;
    if (messages.length === 0) return;
    this.#exchanges += 1;
    this.write(messages);
  }

  write(messages: readonly Buffer[]): void {
    if (!this.#closed) this.#socket.write(messages.length === 1 ? messages[0]! : Buffer.concat(messages));
  }

  release(consumer: MessageConsumer): void {
    if (this.#consumer === consumer) this.#consumer = null;
  }

  end(farewell: Buffer): void {
    if (!this.#closed) this.#socket.end(farewell);
  }

  destroy(): void {
    this.#socket.destroy();
    this.#close(new DriverFailure('connection', 'The connection was destroyed.'));
  }

  onSocketTimeout(milliseconds: number): void {
    onSilence(this.#socket, milliseconds, () => {
      if (!this.#consumer || this.#paused) return;
      this.#close(
        new DriverFailure('connection', `The server sent nothing for ${milliseconds} ms.`, { driverCode: 'ETIMEDOUT' }),
      );
      this.#socket.destroy();
    });
  }

  /**
   * For a server that writes a message in pieces without TCP_NODELAY: the rest waits until this side has acknowledged the
   * first piece, which it does 40 ms later, or at once with something to send.
   */
  nudgeWith(message: Buffer): void {
    this.#nudge = message;
  }

  #close(failure: DriverFailure): void {
    if (this.#closed) return;
    this.#closed = this.#farewell ?? failure;
    this.#pending = [];
    const consumer = this.#consumer;
    this.#consumer = null;
    consumer?.closed(this.#closed);
  }

  #receive(chunk: Buffer): void {
    if (this.#closed) return;
    let at = this.#pendingBytes === 0 ? 0 : this.#complete(chunk);
    while (chunk.length - at >= HEADER && !this.#closed) {
      const size = 1 + chunk.readUInt32BE(at + 1);
      if (chunk.length - at < size) return this.#keep(chunk.subarray(at), size);
      this.#dispatch(chunk[at]!, chunk, at + HEADER, at + size);
      at += size;
    }
    if (at < chunk.length && !this.#closed) this.#keep(chunk.subarray(at), HEADER);
  }

  /**
   * Takes what the message under way still needs, and gives it on once it is whole; how many bytes were taken. Only that
   * message is joined, once and however many chunks it arrives in: the rest of the chunk is read where it lies.
   */
  #complete(chunk: Buffer): number {
    let taken = 0;
    while (this.#pendingBytes > 0) {
      const piece = chunk.subarray(taken, taken + this.#needed - this.#pendingBytes);
      this.#pending.push(piece);
      this.#pendingBytes += piece.length;
      taken += piece.length;
      if (this.#pendingBytes < this.#needed) return taken;
      const message = Buffer.concat(this.#pending, this.#pendingBytes);
      const size = 1 + message.readUInt32BE(1);
      if (size > message.length) {
        this.#keep(message, size);
        continue;
      }
      this.#pending = [];
      this.#pendingBytes = 0;
      this.#dispatch(message[0]!, message, HEADER, size);
    }
    return taken;
  }

  #keep(begun: Buffer, needed: number): void {
    this.#pending = [begun];
    this.#pendingBytes = begun.length;
    this.#needed = needed;
    if (this.#nudge) this.#socket.write(this.#nudge);
  }

  #dispatch(type: number, buffer: Buffer, start: number, end: number): void {
    if (type === MESSAGE.notice || type === MESSAGE.parameterStatus || type === MESSAGE.notification) return;
    if (type === MESSAGE.readyForQuery) this.status = statusOf(buffer[start]);
    else if (type === MESSAGE.error) this.#noteFarewell(buffer.subarray(start, end));
    this.#consumer?.message(type, buffer, start, end);
  }

  #noteFarewell(body: Buffer): void {
    const fields = readErrorFields(body);
    const severity = fields.get('V') ?? fields.get('S');
    if (severity !== 'FATAL' && severity !== 'PANIC') return;
    this.#farewell = new DriverFailure('connection', fields.get('M') ?? 'The server ended the connection.', {
      driverCode: fields.get('C') ?? 'XX000',
    });
  }
}

function statusOf(byte: number | undefined): TransactionStatus {
  return byte === 0x54 ? 'T' : byte === 0x45 ? 'E' : 'I';
}
