import type { Clock } from '#libs/kernel';
import { TransientUnavailable } from '../transient-unavailable.js';

/** What an entry costs beside its content. */
const ENTRY_BYTES = 100;

interface Entry<T> {
  value: T;
  bytes: number;
  expiresAtMs: number;
}

/** Values that end by themselves, under one bound of bytes. A write that does not fit is refused, never makes room. */
export class ExpiringEntries {
  readonly #entries = new Map<string, Entry<unknown>>();
  #bytes = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly clock: Clock,
  ) {}

  get nowMs(): number {
    return this.clock.now().getTime();
  }

  after(seconds: number): number {
    return this.nowMs + seconds * 1000;
  }

  /** Bytes accounted for, expired entries included until they are swept. */
  get bytes(): number {
    return this.#bytes;
  }

  get<T>(key: string): T | undefined {
    return this.#live(key)?.value as T | undefined;
  }

  expiresAtMs(key: string): number | undefined {
    return this.#live(key)?.expiresAtMs;
  }

  /** `contentBytes` is the size of the whole value, also of one that grew in place. */
  set(key: string, value: unknown, contentBytes: number, expiresAtMs: number): void {
    const bytes = contentBytes + key.length + ENTRY_BYTES;
    const before = this.#live(key)?.bytes ?? 0;
    this.#requireRoom(bytes - before);
    this.#entries.set(key, { value, bytes, expiresAtMs });
    this.#bytes += bytes - before;
  }

  expireAt(key: string, expiresAtMs: number): void {
    const entry = this.#live(key);
    if (entry) entry.expiresAtMs = expiresAtMs;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  sweep(): void {
    const now = this.nowMs;
    for (const [key, entry] of this.#entries) if (entry.expiresAtMs <= now) this.delete(key);
  }

  #live(key: string): Entry<unknown> | undefined {
    const entry = this.#entries.get(key);
    if (!entry || entry.expiresAtMs > this.nowMs) return entry;
    this.delete(key);
    return undefined;
  }

  #requireRoom(more: number): void {
    if (more <= 0 || this.#bytes + more <= this.maxBytes) return;
    this.sweep();
    if (this.#bytes + more > this.maxBytes) throw new TransientUnavailable({ reason: 'full' });
  }
}
