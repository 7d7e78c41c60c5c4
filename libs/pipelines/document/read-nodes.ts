import { isJsonObject, type JsonValue } from '#libs/kernel';
import { quoteForMessage } from '#libs/typesystem';
import { reflected } from '#libs/templates';
import { integerToken, ObjectReader } from './object-reader.js';
import { isIdentifier, isReservedName } from './names.js';
import { completeCalculator, readCalculator, type ReadCalculator } from './read-calculator.js';
import {
  NODE_TYPES,
  type NodeOutput,
  type NodeSettings,
  type NodeType,
  type PipelineNode,
} from './pipeline-document.js';
import { readChild, type ReadChild } from './read-child.js';
import { readNodeSettings, type DocumentLimits } from './read-settings.js';

export const MAX_NODES = 1000;
const CALCULATOR_FIELDS = ['kind', 'inputs', 'context_key', 'context_keys'] as const;

/** A node as far as it could be read; what is absent here has already been complained about, or may be absent. */
export interface ReadNode {
  index: number;
  path: string;
  id?: string;
  type?: NodeType;
  description?: string;
  dependsOn: readonly string[];
  source?: string;
  template?: { id?: string; version?: number };
  output?: Partial<{ target: NodeOutput['target']; table: string; datasource: string; mode: 'replace' | 'append' }>;
  settings: NodeSettings;
  /** Of a PIPELINE node. */
  child?: ReadChild;
  /** Of a CALCULATOR node. */
  calculator?: ReadCalculator;
}

/** Reads `nodes` (contract 01 §2), each as far as it goes. */
export function readNodes(root: ObjectReader, limits: DocumentLimits): ReadNode[] {
  const { notes } = root;
  const entries = root.list('nodes') ?? [];
  if (entries.length === 0) {
    notes.fail('pipeline.validation.empty_pipeline', 'nodes', 'A pipeline needs at least one node.');
  }
  if (entries.length > MAX_NODES) {
    notes.fail(
      'pipeline.validation.pipeline_too_large',
      'nodes',
      `A pipeline has at most ${MAX_NODES} nodes; this one has ${entries.length}. Split it.`,
      { limit: 'nodes', max: MAX_NODES, found: entries.length },
    );
  }
  const stored: JsonValue[] = [];
  root.stored.nodes = stored;
  const nodes: ReadNode[] = [];
  for (const [index, entry] of entries.slice(0, MAX_NODES).entries()) {
    const path = `nodes[${index}]`;
    if (!isJsonObject(entry)) {
      notes.malformed(path, 'an object');
      continue;
    }
    const reader = new ObjectReader(path, entry, notes);
    stored.push(reader.stored);
    nodes.push(readNode(reader, index, limits));
  }
  return nodes;
}

function readNode(reader: ObjectReader, index: number, limits: DocumentLimits): ReadNode {
  const id = readId(reader);
  const type = readType(reader);
  const description = reader.text('description');
  const dependsOn = readDependencies(reader);
  if (type === undefined) {
    // The rules of a node follow from its type: without one only its place in the graph is judged.
    return { index, path: reader.path, dependsOn, settings: {}, ...(id === undefined ? {} : { id }) };
  }
  const settings = readNodeSettings(reader, limits, type);
  const known = {
    index,
    path: reader.path,
    type,
    dependsOn,
    settings,
    ...(id === undefined ? {} : { id }),
    ...(description === undefined ? {} : { description }),
  };
  if (type === 'CALCULATOR') {
    const calculator = readCalculator(reader);
    reader.finish();
    return { ...known, calculator };
  }
  const child = type === 'PIPELINE' ? readChild(reader) : undefined;
  const source = type === 'PIPELINE' ? undefined : reader.value('source');
  const template = type === 'PIPELINE' ? undefined : readTemplate(reader);
  const output = readOutput(reader, type);
  const calculator = CALCULATOR_FIELDS.filter((key) => reader.peek(key) !== undefined);
  if (calculator.length > 0) {
    reader.notes.fail(
      'pipeline.validation.calculator_fields_on_non_calculator',
      reader.at(calculator[0]!),
      `A ${type} node computes nothing: drop ${calculator.map((key) => `"${key}"`).join(', ')}.`,
      { fields: calculator },
    );
  }
  reader.finish();
  return {
    ...known,
    ...(typeof source === 'string' ? { source } : {}),
    ...(template === undefined ? {} : { template }),
    ...(output === undefined ? {} : { output }),
    ...(child === undefined ? {} : { child }),
  };
}

function readId(reader: ObjectReader): string | undefined {
  const id = reader.value('id');
  if (typeof id !== 'string') {
    reader.notes.fail(
      'pipeline.validation.invalid_identifier',
      reader.at('id'),
      'Every node needs an "id" of [a-z0-9_]{1,63}.',
    );
    return undefined;
  }
  judgeIdentifier(reader, 'id', id, 'node id');
  return id;
}

function judgeIdentifier(reader: ObjectReader, key: string, text: string, what: string): void {
  if (isReservedName(text)) {
    reader.notes.fail(
      'pipeline.validation.reserved_identifier',
      reader.at(key),
      `${quoteForMessage(text)} is reserved for the engine: choose another ${what}.`,
      { identifier: reflected(text) },
    );
  } else if (!isIdentifier(text)) {
    reader.notes.fail(
      'pipeline.validation.invalid_identifier',
      reader.at(key),
      `${quoteForMessage(text)} is no ${what}: use 1 to 63 of a-z, 0-9 and "_".`,
      { identifier: reflected(text) },
    );
  }
}

function readType(reader: ObjectReader): NodeType | undefined {
  const type = reader.value('type');
  const known = NODE_TYPES.find((candidate) => candidate === type);
  if (known) return known;
  reader.notes.fail(
    'pipeline.validation.type_invalid',
    reader.at('type'),
    `Set "type" to one of ${NODE_TYPES.join(', ')}.`,
    { allowed: [...NODE_TYPES] },
  );
  return undefined;
}

function readDependencies(reader: ObjectReader): string[] {
  const list = reader.list('depends_on');
  if (list === undefined) return [];
  reader.stored.depends_on = list;
  const ids: string[] = [];
  for (const [position, id] of list.entries()) {
    if (typeof id === 'string') ids.push(id);
    else if (!reader.notes.isFull)
      reader.notes.wrongField(`${reader.at('depends_on')}[${position}]`, 'the id of a node');
  }
  return ids;
}

function readTemplate(reader: ObjectReader): ReadNode['template'] {
  const template = reader.child('template');
  if (!template) return undefined;
  const id = template.value('id');
  const version = integerToken(template.value('version'));
  template.finish();
  return {
    ...(typeof id === 'string' ? { id } : {}),
    ...(version !== undefined && version >= 1 ? { version } : {}),
  };
}

function readOutput(reader: ObjectReader, type: NodeType): ReadNode['output'] {
  const { notes } = reader;
  if (type === 'DML' || type === 'DDL') {
    if (reader.peek('output') !== undefined) {
      notes.fail(
        `pipeline.validation.${type === 'DML' ? 'dml' : 'ddl'}_has_output`,
        reader.at('output'),
        `A ${type} node returns no rows: drop "output".`,
      );
    }
    return undefined;
  }
  const output = reader.child('output');
  if (!output) return undefined;
  const target = output.value('target');
  if (target !== 'tempdb' && target !== 'caller' && target !== 'datasource') {
    notes.fail(
      'pipeline.validation.output_target_invalid',
      output.at('target'),
      'Set "target" to tempdb, caller or datasource.',
      { allowed: ['tempdb', 'caller', 'datasource'] },
    );
    return {};
  }
  if (target === 'caller') {
    output.finish();
    return { target };
  }
  const table = readTable(output);
  const named: ReadNode['output'] = table === undefined ? { target } : { target, table };
  if (target === 'tempdb') {
    output.finish();
    return named;
  }
  const datasource = output.value('datasource');
  if (typeof datasource !== 'string' || datasource === '') {
    notes.fail(
      'pipeline.validation.output_datasource_missing',
      output.at('datasource'),
      'Name the datasource to write to in "datasource".',
    );
  }
  const mode = output.value('mode');
  if (mode !== 'replace' && mode !== 'append') {
    notes.fail(
      'pipeline.validation.output_mode_invalid',
      output.at('mode'),
      'Set "mode" to append, or to replace, which empties the table first.',
      { allowed: ['replace', 'append'] },
    );
  }
  output.finish();
  return {
    ...named,
    ...(typeof datasource === 'string' && datasource !== '' ? { datasource } : {}),
    ...(mode === 'replace' || mode === 'append' ? { mode } : {}),
  };
}

function readTable(output: ObjectReader): string | undefined {
  const table = output.value('table');
  if (typeof table !== 'string' || table === '') {
    output.notes.fail('pipeline.validation.output_table_missing', output.at('table'), 'Name the table in "table".');
    return undefined;
  }
  judgeIdentifier(output, 'table', table, 'table name');
  return table;
}

/** The typed node of one that passed every rule. */
export function completeNode(node: ReadNode): PipelineNode | undefined {
  const { id, type, source, template, output, child } = node;
  if (id === undefined || type === undefined) return undefined;
  const { dependsOn, settings } = node;
  const common = {
    id,
    dependsOn,
    settings,
    ...(node.description === undefined ? {} : { description: node.description }),
  };
  if (type === 'CALCULATOR') {
    const computed = node.calculator && completeCalculator(node.calculator);
    return computed && { ...common, type, ...computed };
  }
  const delivering = {
    ...common,
    ...(output === undefined ? {} : { output: output as NodeOutput }),
  };
  if (type === 'PIPELINE') {
    if (child?.name === undefined || child.version === undefined) return undefined;
    return {
      ...delivering,
      type,
      pipeline: { name: child.name, version: child.version },
      parameters: child.parameters,
    };
  }
  if (source === undefined || template?.id === undefined || template.version === undefined) return undefined;
  return { ...delivering, type, source, template: { id: template.id, version: template.version } };
}
