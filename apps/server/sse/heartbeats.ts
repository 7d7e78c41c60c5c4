/** Turns of an interval: streams beat a share at a time, as they came, and never all at once. */
const TURNS = 20;

export interface Beating {
  /** Must not throw. */
  beat(): void;
}

/** One timer for the heartbeats of all streams of this instance (02 §10.3). It rests while there are none. */
export class Heartbeats {
  readonly #turns: Set<Beating>[] = Array.from({ length: TURNS }, () => new Set());
  #timer: NodeJS.Timeout | undefined;
  #now = 0;
  #members = 0;

  constructor(readonly intervalMs: number) {}

  /** From one interval on, and every interval, until it leaves. */
  join(member: Beating): void {
    this.#turns[this.#now]!.add(member);
    this.#members++;
    this.#timer ??= setInterval(() => this.#turn(), this.intervalMs / TURNS).unref();
  }

  leave(member: Beating): void {
    if (!this.#turns.some((turn) => turn.delete(member))) return;
    this.#members--;
    if (this.#members > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #turn(): void {
    this.#now = (this.#now + 1) % TURNS;
    for (const member of this.#turns[this.#now]!) member.beat();
  }
}
