import { isJsonObject, type Failure, type JsonValue } from '#libs/kernel';
import { coerceJson, coerceText, type Coercion, type TypedValue } from '#libs/typesystem';
import { reflected } from '#libs/templates';
import {
  calculatorNodes,
  declaredType,
  type ParameterDeclaration,
  type PipelineDocument,
} from '../document/pipeline-document.js';
import { bindCalculatorKeys, jsonKeys, textKeys } from './bind-calculator-keys.js';

/** Longest value of one parameter in a URL (contract 03 §7). */
const MAX_TEXT_BYTES = 4096;

/**
 * The values of every declared parameter, and those a caller gave for calculator keys; or everything that is wrong with
 * what was supplied.
 */
export type BoundParameters =
  | { ok: true; values: Map<string, TypedValue>; calculated: Map<string, TypedValue> }
  | { ok: false; failures: Failure[] };

/** Without nodes there are no calculator keys to give: a check binds declared parameters only. */
type Declared = Pick<PipelineDocument, 'parameters'> & Partial<Pick<PipelineDocument, 'nodes'>>;
/** Coerces what was supplied for one parameter; undefined when nothing was, or null. */
type Supplied = (name: string, declaration: ParameterDeclaration) => Coercion | undefined;

/**
 * Binds the `parameters` of an execute request (contract 01 §3.2): a supplied value that is not null, else the default,
 * else null. Undeclared keys are ignored. All failures come together, and no message echoes a whole value.
 */
export function bindParameters(document: Declared, supplied: JsonValue | undefined): BoundParameters {
  if (supplied !== undefined && supplied !== null && !isJsonObject(supplied)) {
    return { ok: false, failures: [wrongContainer()] };
  }
  const values = supplied ?? {};
  const supply: Supplied = (name, declaration) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined || value === null ? undefined : coerceJson(declaredType(declaration), value);
  };
  return bind(document, supply, jsonKeys(values));
}

/**
 * Binds the query of a published endpoint: text for every type. An unknown name, or one that comes twice, is refused
 * here (contract 03 §7); an empty text is a value, not an absence. Undefined stands for bytes that are no text: refused,
 * never mended.
 */
export function bindTextParameters(
  document: Declared,
  entries: readonly (readonly [string, string | undefined])[],
): BoundParameters {
  const texts = new Map<string, string>();
  const failures: Failure[] = [];
  const complain = (code: Failure['code'], name: string, message: string): void => {
    const shown = reflected(name);
    failures.push({ code, path: `parameters.${shown}`, message, details: { parameter: shown } });
  };
  const computed = calculatorNodes({ nodes: document.nodes ?? [] }).flatMap(({ outputs }) =>
    outputs.map(({ key }) => key),
  );
  const known = new Set([...document.parameters.keys(), ...computed]);
  for (const [name, text] of entries) {
    if (!known.has(name)) {
      complain(
        'endpoint.request.parameter_unknown',
        name,
        `The endpoint has no parameter "${reflected(name)}". It takes: ${[...known].join(', ') || 'none'}.`,
      );
    } else if (texts.has(name)) {
      complain('endpoint.request.parameter_repeated', name, `The parameter "${name}" was given more than once.`);
    } else if (text === undefined) {
      complain(
        'pipeline.execution.invalid_parameter_type',
        name,
        `The value of "${name}" is no text: percent-encode it as UTF-8, without U+0000.`,
      );
    } else if (Buffer.byteLength(text) > MAX_TEXT_BYTES) {
      complain(
        'endpoint.request.value_too_large',
        name,
        `The value of "${name}" is longer than ${MAX_TEXT_BYTES} bytes.`,
      );
    } else {
      texts.set(name, text);
    }
  }
  const supply: Supplied = (name, declaration) => {
    const text = texts.get(name);
    return text === undefined ? undefined : coerceText(declaredType(declaration), text);
  };
  const bound = bind(document, supply, textKeys(texts));
  if (failures.length === 0) return bound;
  return { ok: false, failures: bound.ok ? failures : [...failures, ...bound.failures] };
}

function bind(
  { parameters, nodes = [] }: Declared,
  supplied: Supplied,
  keys: Parameters<typeof bindCalculatorKeys>[1],
): BoundParameters {
  const values = new Map<string, TypedValue>();
  const failures: Failure[] = [];
  for (const [name, declaration] of parameters) {
    const type = declaredType(declaration);
    const given = supplied(name, declaration);
    const coerced = given ?? (declaration.default === undefined ? undefined : coerceJson(type, declaration.default));
    if (coerced === undefined) {
      if (declaration.required) failures.push(missing(name, declaration));
      values.set(name, { type, value: null });
    } else if (coerced.ok) {
      values.set(name, { type, value: coerced.value });
    } else {
      failures.push(refused(name, declaration, coerced));
    }
  }
  const calculated = bindCalculatorKeys({ nodes }, keys);
  failures.push(...calculated.failures);
  return failures.length === 0 ? { ok: true, values, calculated: calculated.values } : { ok: false, failures };
}

function missing(name: string, { type }: ParameterDeclaration): Failure {
  return {
    code: 'pipeline.execution.parameter_required',
    path: `parameters.${name}`,
    message: `The parameter "${name}" (${type}) is required: supply a value that is not null.`,
    details: { parameter: name, expected: type },
  };
}

function refused(name: string, { type }: ParameterDeclaration, coercion: Coercion & { ok: false }): Failure {
  const constraint = coercion.kind === 'constraint';
  return {
    code: constraint
      ? 'pipeline.execution.parameter_constraint_violation'
      : 'pipeline.execution.invalid_parameter_type',
    path: `parameters.${name}`,
    message: `The parameter "${name}" (${type}): ${coercion.message}.`,
    details: { parameter: name, field: `parameters.${name}`, expected: type, reason: constraint ? 'bounds' : 'form' },
  };
}

function wrongContainer(): Failure {
  return {
    code: 'pipeline.execution.invalid_parameter_type',
    path: 'parameters',
    message: 'Send the parameters as one JSON object of names and values.',
    details: { field: 'parameters', reason: 'field' },
  };
}
