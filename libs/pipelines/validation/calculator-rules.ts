import type { CalculatorInput } from '#libs/calculators';
import { reflected } from '#libs/templates';
import { quoteForMessage, type ColumnType, type LogicalType } from '#libs/typesystem';
import { SURROUNDING_TYPES } from '../binding/context-builder.js';
import type { Ancestry } from '../document/ancestry.js';
import type { Notes } from '../document/notes.js';
import type { ParameterDeclaration } from '../document/pipeline-document.js';
import type { InputReference } from '../document/read-calculator.js';
import type { ReadBody } from '../document/read-document.js';

/** A calculator key with the node that writes it. */
export interface KeyWriter {
  key: string;
  /** Undefined: any scalar. */
  type: ColumnType | undefined;
  position: number;
  path: string;
}

/** The calculator keys of a body; the first of two that are alike counts. */
export function keyWriters({ nodes }: Pick<ReadBody, 'nodes'>): Map<string, KeyWriter> {
  const writers = new Map<string, KeyWriter>();
  for (const [position, { calculator, path }] of nodes.entries()) {
    for (const { key, type } of calculator?.outputs ?? []) {
      if (!writers.has(key)) writers.set(key, { key, type, position, path });
    }
  }
  return writers;
}

/**
 * What calculators need of the rest of the body (contract 01 §7): keys that nobody else writes, and references to what
 * is there when they run. Keys of the organisation and the platform may be shadowed, declared parameters may not.
 */
export function judgeCalculators(
  body: Pick<ReadBody, 'nodes' | 'parameters' | 'parameterNames' | 'notes'>,
  writers: ReadonlyMap<string, KeyWriter>,
  ancestry: () => Ancestry,
): void {
  const { nodes, parameters, notes } = body;
  const declared = new Set(body.parameterNames);
  const taken = new Map<string, string>();
  for (const [position, { calculator }] of nodes.entries()) {
    for (const { key, path } of calculator?.outputs ?? []) {
      judgeKey(key, path, declared, taken, notes);
    }
    for (const reference of calculator?.references ?? []) {
      if (notes.isFull) return;
      judgeReference(reference, position, { declared, parameters, writers, ancestry }, notes);
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

interface Known {
  declared: ReadonlySet<string>;
  parameters: ReadonlyMap<string, ParameterDeclaration>;
  writers: ReadonlyMap<string, KeyWriter>;
  ancestry: () => Ancestry;
}

function judgeReference({ input, key, path }: InputReference, position: number, known: Known, notes: Notes): void {
  if (known.declared.has(key)) return judgeType(input, key, known.parameters.get(key)?.type, path, notes);
  const writer = known.writers.get(key);
  if (writer && known.ancestry().precedes(writer.position, position)) {
    return judgeType(input, key, writer.type?.type, path, notes);
  }
  const surrounding = SURROUNDING_TYPES.get(key);
  if (surrounding) return judgeType(input, key, surrounding, path, notes);
  if (writer) {
    notes.fail(
      'pipeline.validation.calculator_input_unordered',
      path,
      writer.position === position
        ? `The node cannot read its own ${quoteForMessage(key)}.`
        : `${writer.path} computes ${quoteForMessage(key)}, and need not have run by then: add it to "depends_on".`,
      { key, writer: writer.path },
    );
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
