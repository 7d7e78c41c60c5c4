import type { RunnableVersion } from '#libs/pipelines';
import type { TemplateClosure } from '#libs/templates';
import type { TypedValue } from '#libs/typesystem';
import type { ChildStream } from '../family/child-stream.js';
import type { Lineage } from '../family/lineage.js';
import type { EndTrail } from '../records/run-trail.js';
import type { DependencyGraph } from '../scheduling/dependency-graph.js';
import type { FamilyPermits } from '../scheduling/family-permits.js';
import type { MemoryReservation } from '../staging/memory-budget.js';

/** What a launch knows when the row exists. */
export interface RunFacts {
  executionId: string;
  correlationId: string;
  userId: string;
  pipeline: RunnableVersion;
  graph: DependencyGraph;
  templates: ReadonlyMap<string, TemplateClosure>;
  values: ReadonlyMap<string, TypedValue>;
  /** Values that were given for calculator keys. */
  calculated: ReadonlyMap<string, TypedValue>;
  parametersJson: string;
  /** Microseconds, from the database. */
  startedAt: string;
  attached: boolean;
  lineage: Lineage;
  /** Of a child: its parent's. */
  permits?: FamilyPermits;
  /** Of a child: where its caller node's rows go instead of the result store. */
  stream?: ChildStream | undefined;
  memory: MemoryReservation | undefined;
  /** As the row's INSERT has read them. */
  sources: ReadonlyMap<string, string>;
  trail?: EndTrail | undefined;
  resultTtlSeconds?: number;
  resultPageRows?: number;
}
