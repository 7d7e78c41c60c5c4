import { NativeCallGate } from './native-call-gate.js';

/** Where native engine calls are admitted. */
export interface NativeCalls {
  /** Runs the call once there is room; rejects with the signal's reason when it aborts before that. */
  run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Part of the process's gate that reading DuckDB datasources may fill: staged runs find room beside a slow file. */
const DATASOURCE_SHARE = 1 / 3;

/**
 * Calls on datasources and lakes. They pass the one gate of the process, at most a third of it at a time. Whoever holds
 * a place in the gate waits for nothing here, so the two waits cannot lock each other.
 */
export class DatasourceCalls implements NativeCalls {
  readonly #share: NativeCallGate;

  constructor(private readonly gate: NativeCallGate) {
    this.#share = new NativeCallGate(Math.max(1, Math.floor(gate.limit * DATASOURCE_SHARE)));
  }

  async run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return await this.#share.run(() => this.gate.run(call, signal), signal);
  }
}
