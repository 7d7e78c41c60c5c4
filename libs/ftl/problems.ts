import type { GuardName } from './limits.js';

export type FtlProblemCode = 'syntax_error' | 'dangerous_construct' | 'html_entity';

/** One defect of a template body at save (contract 05 §8). Positions are 1-based UTF-16. */
export interface FtlProblem {
  code: FtlProblemCode;
  message: string;
  line: number;
  column: number;
  /** The line and a caret under the place, for people to read; absent where no place is to blame. */
  excerpt?: string;
  details: Record<string, unknown>;
}

/** Why SQL positions, checked built-ins or binds refuse a render (contract 05 §5). */
export type RefusalReason =
  | 'fragment_operation'
  | 'bind_in_literal'
  | 'bind_in_identifier'
  | 'bind_in_structure'
  | 'bind_in_comment'
  | 'native_placeholder'
  | 'unterminated'
  | 'not_allowed'
  | 'list_outside_in'
  | 'empty_list'
  | 'list_too_long';

export type RenderProblemKind = 'undefined_variable' | 'render_error' | 'guard' | 'position' | 'missing_parameter';

/** Why a render failed. Messages name operators and types, never a value (contract 05 §8). */
export interface RenderProblem {
  kind: RenderProblemKind;
  reason?: RefusalReason | 'number_too_large' | 'stopped';
  guard?: GuardName;
  message: string;
  line: number;
  column: number;
  /** The line and a caret under the place, for people to read; absent where no place is to blame. */
  excerpt?: string;
  /** Source text of the blamed expression, clipped to 64 characters. */
  expression?: string;
  /** The missing variable or parameter. */
  variable?: string;
  /** Every `:name` that names nothing, with `missing_parameter`. */
  missing?: string[];
  /** Macro and function calls active at the failure, innermost first. */
  macroStack: string[];
  /** Alias path of the library the position lies in; absent for the body itself. */
  library?: string;
}

/** A defect before its place is shown. */
export type PlacedProblem = Omit<FtlProblem, 'excerpt'>;

/** Internal signal of the parser; never leaves the library. */
export class SyntaxFault extends Error {
  constructor(
    message: string,
    readonly offset: number,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
  }
}
