import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { isJsonObject, nearest, type JsonObject, type JsonValue } from '#libs/kernel';
import { plain } from '../protocol/exact-json.js';
import { invalidParams, shownName, type RpcError } from '../protocol/rpc-error.js';
import { isOptional, kindOf, type Argument } from './arguments.js';
import type { ToolDeclaration } from './tool.js';

const ajv = new Ajv({ strict: true, allowUnionTypes: true });
/** Compiled at the first call: a start need not wait for what may never be asked. */
const compiled = new WeakMap<Argument<unknown>, ValidateFunction>();

/** One thing to change, in a sentence. */
interface Problem {
  argument: string;
  problem: string;
}

/** At most this many problems are told at once; nobody mends more. */
const MAX_PROBLEMS = 20;

/**
 * The arguments of a call as the tool gets them. Each argument is judged by its published schema alone and at most once,
 * so that a hostile list costs one sentence and not one for each of its items.
 *
 * @throws RpcError −32602 that says for each problem what to change (06 §12)
 */
export function readArguments(declaration: ToolDeclaration, sent: JsonValue | undefined): Record<string, unknown> {
  const { name, arguments: shape } = declaration;
  if (sent !== undefined && !isJsonObject(sent)) {
    throw refusal(declaration, [
      { argument: 'arguments', problem: `“arguments” must be an object; you sent ${kindOf(sent)}.` },
    ]);
  }
  const given: JsonObject = sent ?? {};
  const problems: Problem[] = [];
  const read: Record<string, unknown> = {};
  for (const [argument, rule] of Object.entries(shape)) {
    const value = Object.hasOwn(given, argument) ? given[argument] : undefined;
    if (value === undefined) {
      if (!isOptional(rule)) problems.push({ argument, problem: missing(argument, rule) });
      continue;
    }
    const problem = defect(argument, rule, value);
    if (problem === undefined) read[argument] = rule.read(value);
    else problems.push({ argument, problem });
  }
  for (const argument of Object.keys(given)) {
    if (problems.length >= MAX_PROBLEMS) break;
    if (!Object.hasOwn(shape, argument)) problems.push(unknown(argument, name, Object.keys(shape)));
  }
  if (problems.length > 0) throw refusal(declaration, problems);
  return read;
}

function refusal(declaration: ToolDeclaration, problems: readonly Problem[]): RpcError {
  const { name, arguments: shape } = declaration;
  const all = Object.keys(shape).map((each) => (isOptional(shape[each]!) ? `${each}?` : each));
  const takes = all.length > 0 ? `${name} takes: ${all.join(', ')}.` : `${name} takes no arguments.`;
  return invalidParams(`${problems.map(({ problem }) => problem).join(' ')} ${takes}`, {
    tool: name,
    problems: problems.slice(0, MAX_PROBLEMS),
  });
}

function missing(argument: string, rule: Argument<unknown>): string {
  return `“${argument}” is required: ${whatItIs(rule)}`;
}

function unknown(argument: string, tool: string, known: readonly string[]): Problem {
  const shown = shownName(argument);
  const meant = nearest(shown, known);
  const hint = meant === undefined ? 'Leave it out.' : `Did you mean “${meant}”?`;
  return { argument: shown, problem: `${tool} has no argument “${shown}”. ${hint}` };
}

function defect(argument: string, rule: Argument<unknown>, value: JsonValue): string | undefined {
  let validate = compiled.get(rule);
  if (!validate) compiled.set(rule, (validate = ajv.compile(rule.schema)));
  if (validate(plain(value))) return undefined;
  if (value === null && isOptional(rule)) return `“${argument}” is null. Leave it out instead.`;
  const error = (validate.errors ?? [])[0] as ErrorObject;
  const place = `“${argument}${placeOf(error.instancePath)}”`;
  const told = `${place} ${sentence(error, rule, error.instancePath === '' ? value : undefined)}`;
  // What stands inside is told with the form of the whole: its members have no names in the list of arguments.
  return error.instancePath === '' && error.keyword !== 'required'
    ? told
    : `${told} “${argument}” is: ${whatItIs(rule)}`;
}

function whatItIs({ schema }: Argument<unknown>): string {
  return String(schema['description']);
}

/** `/3/name` as `[3].name`. */
function placeOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) =>
      /^\d+$/.test(part) ? `[${part}]` : `.${part.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 64)}`,
    )
    .join('');
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

function sentence({ keyword, params }: ErrorObject, rule: Argument<unknown>, value: JsonValue | undefined): string {
  const sent = value === undefined ? '' : `; you sent ${kindOf(value)}`;
  const rules = params as Record<string, unknown>;
  switch (keyword) {
    case 'type':
      return Array.isArray(rule.schema['anyOf'])
        ? `must be a text or a list of texts${sent}.`
        : `must be ${KINDS[String(rules['type'])] ?? String(rules['type'])}${sent}.`;
    case 'enum':
      return `must be one of ${(rules['allowedValues'] as unknown[]).join(', ')}.`;
    case 'minLength':
      return `must have at least ${String(rules['limit'])} characters.`;
    case 'maxLength':
      return `must have at most ${String(rules['limit'])} characters.`;
    case 'minItems':
      return `must have at least ${String(rules['limit'])} items.`;
    case 'maxItems':
      return `must have at most ${String(rules['limit'])} items.`;
    case 'minimum':
      return `must be at least ${String(rules['limit'])}.`;
    case 'maximum':
      return `must be at most ${String(rules['limit'])}.`;
    case 'required':
      return `must have “${String(rules['missingProperty'])}”.`;
    case 'additionalProperties':
      return `has no member “${String(rules['additionalProperty']).slice(0, 64)}”.`;
    case 'pattern':
      return `must be a UUID: ${whatItIs(rule)}`;
    default:
      return `does not fit: ${whatItIs(rule)}`;
  }
}
