import type { CalculatorInput } from '#libs/calculators';
import { reflected } from '#libs/templates';
import { quoteForMessage, type LogicalType } from '#libs/typesystem';
import type { Notes } from '../document/notes.js';
import type { InputReference } from '../document/read-calculator.js';
import type { ReadBody } from '../document/read-document.js';
import { unorderedAdvice, type ContextKeys } from './context-keys.js';

/**
 * What calculators need of the rest of the body (contract 01 §7): keys that nobody else writes, and references to what
 * is there when they run. Keys of the organisation and the platform may be shadowed, declared parameters may not.
 */
export function judgeCalculators(
  { nodes, parameterNames, notes }: Pick<ReadBody, 'nodes' | 'parameterNames' | 'notes'>,
  keys: ContextKeys,
): void {
  const declared = new Set(parameterNames);
  const taken = new Map<string, string>();
  for (const [position, { calculator }] of nodes.entries()) {
    for (const { key, path } of calculator?.outputs ?? []) {
      judgeKey(key, path, declared, taken, notes);
    }
    for (const reference of calculator?.references ?? []) {
      if (notes.isFull) return;
      judgeReference(reference, position, keys, notes);
    }
  }
}

function judgeKey(
  key: string,
  path: string,
  declared: ReadonlySet<string>,
  taken: Map<string, string>,
  notes: Notes,
): void {
  const earlier = declared.has(key) ? `parameters.${key}` : taken.get(key);
  if (earlier === undefined) {
    taken.set(key, path);
    return;
  }
  notes.fail(
    'pipeline.validation.calculator_output_collision',
    path,
    `${earlier} already has the name ${quoteForMessage(key)}: give the value another one.`,
    { key, first: earlier },
  );
}

function judgeReference({ input, key, path }: InputReference, position: number, keys: ContextKeys, notes: Notes): void {
  const found = keys.find(key, position);
  if (found.known) return judgeType(input, key, found.type?.type, path, notes);
  const { writer } = found;
  if (writer) {
    notes.fail('pipeline.validation.calculator_input_unordered', path, unorderedAdvice(writer, position), {
      key,
      writer: writer.path,
    });
    return;
  }
  notes.fail(
    'pipeline.validation.calculator_input_unknown',
    path,
    `There is no parameter, calculator key, organisation or platform key ${quoteForMessage(key)}.`,
    { reason: 'reference', reference: reflected(key) },
  );
}

const NUMBERS: ReadonlySet<LogicalType> = new Set<LogicalType>(['INTEGER', 'BIGINTEGER', 'DECIMAL', 'BIGDECIMAL']);

/** `found` is undefined where only the run tells, or where the declaration itself is wrong. */
function judgeType(
  input: CalculatorInput,
  key: string,
  found: LogicalType | undefined,
  path: string,
  notes: Notes,
): void {
  if (found === undefined || input.type === 'ANY' || found === input.type) return;
  if (input.type === 'DECIMAL' && NUMBERS.has(found)) return;
  notes.fail(
    'pipeline.validation.calculator_input_type_mismatch',
    path,
    `"${input.name}" takes ${input.type === 'DECIMAL' ? 'a number' : input.type}; ${quoteForMessage(key)} is ${found}.`,
    { input: input.name, expected: input.type, found, reason: 'reference' },
  );
}
