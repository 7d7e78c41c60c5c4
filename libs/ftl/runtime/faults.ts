import type { RefusalReason } from '../problems.js';
import type { ParsedTemplate } from '../template.js';

export interface FaultPlace {
  template: ParsedTemplate;
  start: number;
  end: number;
}

interface FaultOptions {
  kind?: 'undefined_variable' | 'render_error' | 'position';
  reason?: RefusalReason | 'number_too_large' | 'stopped';
  variable?: string;
}

/** A render that failed at a place of a template. Internal: callers get a `RenderProblem`. */
export class RenderFault extends Error {
  readonly kind: 'undefined_variable' | 'render_error' | 'position';
  readonly reason: FaultOptions['reason'];
  readonly variable: string | undefined;

  constructor(
    message: string,
    readonly place: FaultPlace,
    readonly macroStack: string[],
    options: FaultOptions = {},
  ) {
    super(message);
    this.kind = options.kind ?? 'render_error';
    this.reason = options.reason;
    this.variable = options.variable;
  }

  /** `<#attempt>` catches all but refusals of SQL safety (contract 05 §4.2). */
  get catchable(): boolean {
    return this.kind !== 'position';
  }
}

export type { FaultOptions };
