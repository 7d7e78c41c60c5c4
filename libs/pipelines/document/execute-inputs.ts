import { findCalculator } from '#libs/calculators';
import { isExactNumber, isJsonObject, type JsonObject, type JsonValue } from '#libs/kernel';
import type { ColumnType } from '#libs/typesystem';
import { Notes } from './notes.js';
import { ObjectReader } from './object-reader.js';
import { readCalculator } from './read-calculator.js';

/** A value that an execute request may carry (contract 01 §3.1, §7.2; 03 §3). */
export interface ExecuteInput {
  name: string;
  /** Null: any scalar. */
  type: string | null;
  precision?: number;
  scale?: number;
  required: boolean;
  default?: JsonValue;
  description?: string;
  /** A key of a calculator: given, its node is not run. */
  derived: boolean;
}

/** The declared parameters of a stored body, then the keys of its calculators, each in document order. */
export function executeInputs({ parameters, nodes }: JsonObject): ExecuteInput[] {
  const declared = isJsonObject(parameters) ? Object.entries(parameters) : [];
  return [
    ...declared.flatMap(([name, value]) => (isJsonObject(value) ? [declaredInput(name, value)] : [])),
    ...storedCalculatorKeys(nodes).map(derivedInput),
  ];
}

/** A key of a calculator as a stored body has it. */
export interface StoredCalculatorKey {
  key: string;
  /** Undefined: any scalar. */
  type: ColumnType | undefined;
  node: string;
  kind: string;
  /** Keys of the same node: they are given together. */
  together: readonly string[];
}

/** Reads the calculators among stored nodes, which have passed the rules: read again, they complain of nothing. */
export function storedCalculatorKeys(nodes: JsonValue | undefined): StoredCalculatorKey[] {
  if (!Array.isArray(nodes)) return [];
  return nodes.filter(isJsonObject).flatMap((node) => {
    const { id, type, kind } = node;
    if (type !== 'CALCULATOR' || typeof id !== 'string' || typeof kind !== 'string' || !findCalculator(kind)) return [];
    const { outputs } = readCalculator(new ObjectReader('', node, new Notes()));
    const keys = outputs.map(({ key }) => key);
    return outputs.map((output) => ({
      key: output.key,
      type: output.type,
      node: id,
      kind,
      together: keys.filter((key) => key !== output.key),
    }));
  });
}

function declaredInput(name: string, value: JsonObject): ExecuteInput {
  const { type, precision, scale, required, description } = value;
  return {
    name,
    type: typeof type === 'string' ? type : null,
    ...(isExactNumber(precision) ? { precision: Number(precision.value) } : {}),
    ...(isExactNumber(scale) ? { scale: Number(scale.value) } : {}),
    required: required === true,
    ...(value['default'] === undefined ? {} : { default: value['default'] }),
    ...(typeof description === 'string' ? { description } : {}),
    derived: false,
  };
}

function derivedInput({ key, type, node, kind, together }: StoredCalculatorKey): ExecuteInput {
  const also = together.length === 0 ? '' : `, together with ${together.join(', ')}`;
  return {
    name: key,
    type: type?.type ?? null,
    ...(type?.precision === undefined ? {} : { precision: type.precision }),
    ...(type?.scale === undefined ? {} : { scale: type.scale }),
    required: false,
    description: `Computed by "${node}" (${kind}) unless it is given${also}.`,
    derived: true,
  };
}
