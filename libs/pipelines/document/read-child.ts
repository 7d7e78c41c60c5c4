import type { JsonValue } from '#libs/kernel';
import { integerToken, type ObjectReader } from './object-reader.js';

/** What only a PIPELINE node has, as far as it could be read. */
export interface ReadChild {
  /** Whether the node has a `pipeline` at all; what is wrong inside it is judged with the registry. */
  referenced: boolean;
  name?: string;
  version?: number;
  /** By key of the child, as written; nulls count as absent. */
  parameters: ReadonlyMap<string, JsonValue>;
}

/** Reads `pipeline` and `parameters` of a PIPELINE node, and refuses what only SQL nodes have (contract 01 §2). */
export function readChild(reader: ObjectReader): ReadChild {
  refuse(reader, 'source', 'the child names its own datasources');
  refuse(reader, 'template', 'the child brings its own');
  const pin = reader.child('pipeline');
  const name = pin?.value('name');
  const version = integerToken(pin?.value('version'));
  pin?.finish();
  return {
    referenced: pin !== undefined,
    parameters: readMapping(reader),
    ...(typeof name === 'string' ? { name } : {}),
    ...(version !== undefined && version >= 1 ? { version } : {}),
  };
}

function readMapping(reader: ObjectReader): Map<string, JsonValue> {
  const mapping = new Map<string, JsonValue>();
  const section = reader.child('parameters');
  for (const key of section?.keys() ?? []) {
    const value = section?.value(key);
    if (value !== undefined) mapping.set(key, value);
  }
  return mapping;
}

function refuse(reader: ObjectReader, field: 'source' | 'template', why: string): void {
  if (reader.peek(field) === undefined) return;
  reader.notes.fail(
    `pipeline.validation.pipeline_node_has_${field}`,
    reader.at(field),
    `A PIPELINE node has no "${field}": drop it, ${why}.`,
  );
}
