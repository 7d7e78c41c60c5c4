import type { Access, DriverConnection } from '../drivers/driver.js';

/** What one pool draws connections from; holds what they share (an engine, type names). */
export interface ConnectionSource {
  /** Rejects with DriverFailure; the signal bounds the attempt. */
  connect(access: Access, signal: AbortSignal): Promise<DriverConnection>;
  /** Frees what the connections share; called once, after the last of them is closed. */
  close(): Promise<void>;
}
