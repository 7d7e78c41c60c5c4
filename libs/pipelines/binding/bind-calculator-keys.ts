import { suppliedJson, suppliedText } from '#libs/calculators';
import type { Failure, JsonObject } from '#libs/kernel';
import type { TypedValue } from '#libs/typesystem';
import { calculatorNodes, type CalculatorKey, type PipelineDocument } from '../document/pipeline-document.js';

type Read = ReturnType<typeof suppliedJson>;

/**
 * Values a caller gives for calculator keys: each stands for the run of its node (contract 01 §7.2). A node's keys come
 * all together or not at all.
 */
export function bindCalculatorKeys(
  document: Pick<PipelineDocument, 'nodes'>,
  read: (key: CalculatorKey) => Read | undefined,
): { values: Map<string, TypedValue>; failures: Failure[] } {
  const values = new Map<string, TypedValue>();
  const failures: Failure[] = [];
  for (const { id, outputs } of calculatorNodes(document)) {
    const supplied: string[] = [];
    for (const output of outputs) {
      const given = read(output);
      if (given === undefined) continue;
      supplied.push(output.key);
      if (given.ok) values.set(output.key, given.value);
      else failures.push(refused(output, given));
    }
    if (supplied.length === 0 || supplied.length === outputs.length) continue;
    const missing = outputs.map(({ key }) => key).filter((key) => !supplied.includes(key));
    failures.push({
      code: 'pipeline.execution.calculator_keys_partial',
      path: `parameters.${supplied[0]}`,
      message: `Give all values of the calculator "${id}" or none: ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing.`,
      details: { node: id, supplied, missing },
    });
  }
  return { values, failures };
}

/** Reader of the `parameters` of an execute request; null counts as not given. */
export function jsonKeys(values: JsonObject): (key: CalculatorKey) => Read | undefined {
  return ({ key, type }) => {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    return value === undefined || value === null ? undefined : suppliedJson(type, value);
  };
}

/** Reader of the query of a published endpoint. */
export function textKeys(texts: ReadonlyMap<string, string>): (key: CalculatorKey) => Read | undefined {
  return ({ key, type }) => {
    const text = texts.get(key);
    return text === undefined ? undefined : suppliedText(type, text);
  };
}

function refused({ key, type }: CalculatorKey, read: Read & { ok: false }): Failure {
  const constraint = read.kind === 'constraint';
  const expected = type?.type ?? 'ANY';
  return {
    code: constraint
      ? 'pipeline.execution.parameter_constraint_violation'
      : 'pipeline.execution.invalid_parameter_type',
    path: `parameters.${key}`,
    message: `The calculator key "${key}" (${expected}): ${read.message}.`,
    details: { parameter: key, field: `parameters.${key}`, expected, reason: constraint ? 'bounds' : 'form' },
  };
}
