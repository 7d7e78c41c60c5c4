/** Bounds of one parse (contract 05 §6). */
export interface ParseLimits {
  /** `max-body-chars`, UTF-16 units. */
  maxBodyChars: number;
  /** `max-nesting` of expressions and of tags. */
  maxNesting: number;
}

/** Bounds of one render (contract 05 §6); each trips as a guard of its own name. */
export interface RenderLimits {
  maxOutputChars: number;
  maxSteps: number;
  maxIterations: number;
  maxCallDepth: number;
  maxStringChars: number;
  maxCollectionItems: number;
  maxListBinds: number;
  /**
   * Nested evaluations, whatever they are made of; trips as `max-call-depth`, so that deep calls of deep expressions
   * never overflow the JavaScript stack. One takes up to 0.8 KB: 1,000 (the default) fit the main thread's 984 KB,
   * 4,000 a worker of 4 MB.
   */
  maxEvaluationDepth?: number;
  /** Wall clock at which the render must stop, in the unit of `clock`; absent = unbounded. */
  deadline?: number;
  /** Reads the wall clock the deadline is compared with. */
  clock?: () => number;
}

export const DEFAULT_PARSE_LIMITS: ParseLimits = { maxBodyChars: 262_144, maxNesting: 200 };

export const DEFAULT_RENDER_LIMITS: RenderLimits = {
  maxOutputChars: 4_194_304,
  maxSteps: 2_000_000,
  maxIterations: 100_000,
  maxCallDepth: 200,
  maxStringChars: 1_048_576,
  maxCollectionItems: 100_000,
  maxListBinds: 1_000,
};

/** Keys of `datapipelines.templates.` a render can trip over; `capacity`: the pool that runs renders is full. */
export type GuardName =
  | 'render-timeout-ms'
  | 'max-output-chars'
  | 'max-steps'
  | 'max-iterations'
  | 'max-call-depth'
  | 'max-string-chars'
  | 'max-collection-items'
  | 'max-list-binds'
  | 'capacity';
