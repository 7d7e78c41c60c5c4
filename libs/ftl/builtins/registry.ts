import type { BuiltinExpr } from '../syntax/nodes.js';
import type { Interpretation } from '../runtime/interpretation.js';
import type { Value } from '../runtime/values.js';
import { BuiltinCall, type Builtin } from './builtin-call.js';
import { choices } from './choices.js';
import { encodings } from './encodings.js';
import { existence } from './existence.js';
import { formats } from './formats.js';
import { hashes } from './hashes.js';
import { lambdas } from './lambdas.js';
import { loopVariables } from './loop-variables.js';
import { numbers } from './numbers.js';
import { regexps } from './regexps.js';
import { sequences } from './sequences.js';
import { sorting } from './sorting.js';
import { sql } from './sql.js';
import { strings } from './strings.js';
import { types } from './types.js';

const BUILTINS: ReadonlyMap<string, Builtin> = new Map(
  [
    existence,
    choices,
    types,
    strings,
    encodings,
    regexps,
    numbers,
    formats,
    sequences,
    sorting,
    lambdas,
    hashes,
    loopVariables,
    sql,
  ].flatMap((family) => Object.entries(family)),
);

/** Names with an implementation: exactly the supported ones, so a refused built-in has nothing to run. */
export const implementedBuiltins: ReadonlySet<string> = new Set(BUILTINS.keys());

export function callBuiltin(run: Interpretation, expr: BuiltinExpr): Value | undefined {
  const builtin = BUILTINS.get(expr.name);
  if (!builtin) throw run.fault(expr, `?${expr.name} cannot run.`);
  return builtin(new BuiltinCall(run, expr));
}
