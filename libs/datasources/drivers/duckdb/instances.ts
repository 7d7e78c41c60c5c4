import { DuckDBInstance } from '@duckdb/node-api';

import type { Access } from '../driver.js';
import { DriverFailure } from '../driver-failure.js';
import { duckdbFailure } from './failure.js';
import type { NativeCalls } from './native-calls.js';

export interface DuckdbLimits {
  memoryMb: number;
  threads: number;
  /** An absolute folder; the engine's own default is relative to the working directory. */
  temporaryDirectory: string;
  /** Other threads of the process have engines too, and know nothing of ours: then nobody opens one to write. */
  besideThreads?: boolean;
}

/** A share in an engine; the engine closes when the last share is given back. */
export interface DuckdbShare {
  readonly instance: DuckDBInstance;
  release(): void;
}

interface Entry {
  opened: Promise<DuckDBInstance>;
  readOnly: boolean;
  shares: number;
}

/**
 * One engine per canonical file per process: DuckDB would open a file twice and let two engines write over each other
 * (06 §2). In-memory databases are one per datasource. Where threads run executions each has engines of its own, so they
 * are open for reading only: what one thread writes another would overwrite in a file, and never see in memory.
 */
export class DuckdbInstances {
  readonly #limits: DuckdbLimits;
  readonly #entries = new Map<string, Entry>();

  constructor(
    limits: DuckdbLimits,
    private readonly calls: NativeCalls,
  ) {
    this.#limits = limits;
  }

  /**
   * `file` is the canonical path, or null for memory, which then belongs to `owner`; `access` is what the session is for.
   * Rejects with DriverFailure of kind connection.
   */
  async share(owner: string, file: string | null, isReadOnly: boolean, access: Access = 'write'): Promise<DuckdbShare> {
    const beside = this.#limits.besideThreads === true;
    if (beside && !isReadOnly && access === 'write') {
      const what =
        file === null ? 'an in-memory DuckDB is another one in each thread' : 'a DuckDB file can only be read';
      throw new DriverFailure(
        'connection',
        `With datapipelines.executor.host=threads ${what}. Run with host=inline to write to it.`,
        { driverCode: 'THREADS_READ_ONLY' },
      );
    }
    const readOnly = isReadOnly || beside;
    const key = file ?? `:memory:${owner}`;
    let entry = this.#entries.get(key);
    if (entry && entry.readOnly && !readOnly) {
      throw new DriverFailure('connection', 'The file is open read-only in this server by another datasource.', {
        driverCode: 'OPEN_READ_ONLY',
      });
    }
    if (!entry) {
      entry = {
        opened: this.calls.run(() => this.#open(file, readOnly)),
        readOnly: readOnly && file !== null,
        shares: 0,
      };
      this.#entries.set(key, entry);
    }
    const shared = entry;
    shared.shares += 1;
    try {
      const instance = await shared.opened;
      let held = true;
      return {
        instance,
        release: () => {
          if (!held) return;
          held = false;
          this.#giveBack(key, shared, instance);
        },
      };
    } catch (error) {
      // A failed opening is not kept: the next lease tries again.
      if (this.#entries.get(key) === shared) this.#entries.delete(key);
      throw duckdbFailure(error);
    }
  }

  #giveBack(key: string, entry: Entry, instance: DuckDBInstance): void {
    entry.shares -= 1;
    if (entry.shares > 0) return;
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
    instance.closeSync();
  }

  async #open(file: string | null, readOnly: boolean): Promise<DuckDBInstance> {
    const mode: Record<string, string> = file !== null && readOnly ? { access_mode: 'READ_ONLY' } : {};
    const instance = await DuckDBInstance.create(file ?? ':memory:', { ...mode, ...FROM_THE_START });
    try {
      const connection = await instance.connect();
      try {
        for (const setting of lockedSettings(this.#limits)) await connection.run(`SET GLOBAL ${setting}`);
      } finally {
        connection.disconnectSync();
      }
      return instance;
    } catch (error) {
      instance.closeSync();
      throw error;
    }
  }
}

/** Opening a foreign file makes the engine look for an extension that reads it: it must not fetch or load one. */
const FROM_THE_START = { autoinstall_known_extensions: 'false', autoload_known_extensions: 'false' };

/** Set before any author SQL runs and then locked, so that none can lift a limit or reach files (06 §2). */
function lockedSettings({ memoryMb, threads, temporaryDirectory }: DuckdbLimits): string[] {
  return [
    `memory_limit='${memoryMb}MB'`,
    `threads=${threads}`,
    `temp_directory='${temporaryDirectory.replaceAll("'", "''")}'`,
    `TimeZone='UTC'`,
    'allow_unsigned_extensions=false',
    'allow_community_extensions=false',
    'autoinstall_known_extensions=false',
    'autoload_known_extensions=false',
    'allow_persistent_secrets=false',
    'enable_external_access=false',
    'lock_configuration=true',
  ];
}
