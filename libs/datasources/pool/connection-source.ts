import type { Access, DriverConnection } from '../drivers/driver.js';

/** What one pool draws connections from; holds what they share (an engine, type names). */
export interface ConnectionSource {
  /** Rejects with DriverFailure; the signal bounds the attempt. */
  connect(access: Access, signal: AbortSignal): Promise<DriverConnection>;
  /** For a test, where connecting would do too much: the engine's version, once its storage has answered. */
  probe?(signal: AbortSignal): Promise<string>;
  /** Frees what the connections share; called once, after the last of them is closed. */
  close(): Promise<void>;
}
