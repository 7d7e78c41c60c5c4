import type {
  ContextEntry,
  FtlProblem,
  ParseLimits,
  PolicyNames,
  RenderLimits,
  RenderOutcome,
  TextOutcome,
} from '#libs/ftl';
import type { Dialect } from '#libs/typesystem';
import type { TemplateClosure } from '../pinned-template.js';

/** Bounds that come with every task: a worker holds no configuration. */
export interface EngineLimits {
  parse: ParseLimits;
  render: Omit<RenderLimits, 'deadline' | 'clock'>;
}

interface Timed {
  limits: EngineLimits;
  /** Epoch milliseconds at which the task must have ended. */
  deadline: number;
}

/** What a render needs: the version with its libraries, and the values. Everything in it can be cloned to a thread. */
export interface RenderJob {
  closure: TemplateClosure;
  dialect: Dialect;
  context: ReadonlyMap<string, ContextEntry>;
  now: string;
}

export type EngineTask =
  | ({ kind: 'inspect'; body: string } & Timed)
  | ({ kind: 'bind' | 'text' } & RenderJob & Timed)
  | ({ kind: 'scan'; closure: TemplateClosure; names: PolicyNames } & Timed);

/** What a parse says of a body. */
export type Inspection = { ok: true; isLibrary: boolean } | { ok: false; problems: FtlProblem[] };

/** A value written as `${key}` where the save-time policy wants `:key` (contract 05 §5.2). */
export interface InterpolatedParameter {
  parameter: string;
  reason: 'direct' | 'guarded_condition';
  /** The template it stands in: the pinned one, or a library below it. */
  templateId: string;
  templateVersion: number;
  line: number;
  column: number;
}

export interface TaskResults {
  inspect: Inspection;
  bind: RenderOutcome;
  text: TextOutcome;
  scan: readonly InterpolatedParameter[];
}

export type TaskResult = TaskResults[keyof TaskResults];
