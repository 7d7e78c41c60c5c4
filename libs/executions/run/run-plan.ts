import type { ContextValue } from '#libs/ftl';
import type { RunnableVersion } from '#libs/pipelines';
import type { TemplateClosure } from '#libs/templates';
import type { TypedValue } from '#libs/typesystem';
import type { ChildStream } from '../family/child-stream.js';
import type { Lineage } from '../family/lineage.js';
import type { EndTrail } from '../records/run-trail.js';
import type { DependencyGraph } from '../scheduling/dependency-graph.js';
import type { FamilyPermits } from '../scheduling/family-permits.js';
import type { MemoryReservation } from '../staging/memory-budget.js';
import type { RunClock } from './run-clock.js';

/** Everything a run needs to know, read once at launch: later edits or purges do not touch it (contract 02 §2). */
export interface RunPlan {
  readonly executionId: string;
  readonly correlationId: string;
  /** User who triggered it. */
  readonly userId: string;
  readonly pipeline: RunnableVersion;
  readonly graph: DependencyGraph;
  readonly templates: ReadonlyMap<string, TemplateClosure>;
  /** Without what calculators compute. */
  readonly context: ReadonlyMap<string, ContextValue>;
  /** JSON text, as sent. */
  readonly parametersJson: string;
  /** Values the caller gave for calculator keys. */
  readonly calculated: ReadonlyMap<string, TypedValue>;
  readonly clock: RunClock;
  /** Lifetime of the result, and rows of the page in `data_ready`. */
  readonly resultTtlSeconds: number;
  readonly resultPageRows: number;
  /** For the staging engine, if a node needs one; taken at launch. */
  readonly memory: MemoryReservation | undefined;
  /** Ends with its last watcher after the grace. */
  readonly attached: boolean;
  readonly lineage: Lineage;
  /** Of the whole family. */
  readonly permits: FamilyPermits;
  /** Of a child: where its caller node's rows go instead of the result store. */
  readonly stream?: ChildStream | undefined;
  /** The datasources of its nodes that the workspace saw at launch, each with the stamp of its row. */
  readonly sources: ReadonlyMap<string, string>;
  readonly trail?: EndTrail | undefined;
}
