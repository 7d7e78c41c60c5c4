import type { DialectDriver } from './dialect-driver.js';
import type { NativeCalls } from './duckdb/native-calls.js';

/** What engines that run in this process share. */
export interface SharedEngineParts {
  /** Admits native calls; all engines of all datasources wait at this one gate. */
  calls: NativeCalls;
}

/** Dialects whose driver a family above brings, such as the lake with its registry of tables. */
export abstract class FurtherDrivers {
  abstract drivers(shared: SharedEngineParts): readonly DialectDriver[];
}
