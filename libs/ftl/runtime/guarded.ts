import type { Expr } from '../syntax/nodes.js';
import { RenderFault } from './faults.js';
import type { Interpretation } from './interpretation.js';
import type { Value } from './values.js';

/** Evaluates what `!`, `??` and the existence built-ins test: parentheses guard the whole chain inside. */
export function guarded(run: Interpretation, target: Expr): Value | undefined {
  if (target.kind !== 'paren') return run.evaluate(target);
  const { scope, out, macroStack } = run;
  const { depth, callDepth } = run.budget;
  try {
    return run.evaluate(target);
  } catch (fault) {
    if (!(fault instanceof RenderFault) || fault.kind !== 'undefined_variable') throw fault;
    Object.assign(run, { scope, out, macroStack });
    Object.assign(run.budget, { depth, callDepth });
    return undefined;
  }
}
