import type { Calculator } from '#libs/calculators';
import type { JsonObject, JsonValue } from '#libs/kernel';
import type { CheckDeclaration } from './check-declaration.js';
import type { TemplateRef } from '#libs/templates';
import type { ColumnType, LogicalType } from '#libs/typesystem';

/** A validated pipeline body (contract 01 §1). Only what the author owns; nothing server-assigned is in it. */
export interface PipelineDocument {
  schemaVersion: 1;
  /** Folder path, never renamed. */
  name: string;
  displayName: string;
  description: string;
  settings: PipelineSettings;
  parameters: ReadonlyMap<string, ParameterDeclaration>;
  /** In document order; the order of execution is the graph's alone. */
  nodes: readonly PipelineNode[];
  /** Judged by the server before a release; in document order. */
  checks: readonly CheckDeclaration[];
}

export interface PipelineSettings {
  /** `H2` is accepted for older bodies and runs on DuckDB. */
  tempdbEngine?: 'DUCKDB' | 'H2';
  tempdbMaxMemoryMb?: number;
  /** Bound of one statement, for nodes that set none. */
  queryTimeoutSeconds?: number;
}

/** Types a parameter may declare: all canonical ones but NULL. */
export type ParameterType = Exclude<LogicalType, 'NULL'>;

export interface ParameterDeclaration {
  type: ParameterType;
  required: boolean;
  precision?: number;
  scale?: number;
  /** As written; it has passed the coercion of `declaredType`. Never null: a null default counts as absent. */
  default?: JsonValue;
  description?: string;
}

export type PipelineNode = WorkNode | CalculatorNode;

/** A node that works on rows: it takes time, and what it yields goes somewhere. */
export type WorkNode = SqlNode | ChildNode;

export const SQL_NODE_TYPES = ['DQL', 'DML', 'DDL'] as const;
export type SqlNodeType = (typeof SQL_NODE_TYPES)[number];

/** Types a node may have. */
export const NODE_TYPES = [...SQL_NODE_TYPES, 'PIPELINE', 'CALCULATOR'] as const;
export type NodeType = (typeof NODE_TYPES)[number];

/** A node that renders a template and runs the one statement in it. */
export interface SqlNode {
  id: string;
  type: SqlNodeType;
  description?: string;
  dependsOn: readonly string[];
  /** A datasource's name, or `tempdb`. */
  source: string;
  template: TemplateRef;
  /** Only on DQL; absent there means the caller. */
  output?: NodeOutput;
  settings: NodeSettings;
}

/** A node that computes values of the Context out of others (contract 01 §7). */
export interface CalculatorNode {
  id: string;
  type: 'CALCULATOR';
  description?: string;
  dependsOn: readonly string[];
  calculator: Calculator;
  /** Literals and `"$key"` references, as written. */
  inputs: ReadonlyMap<string, JsonValue>;
  outputs: readonly CalculatorKey[];
  settings: NodeSettings;
}

/** A Context key that a calculator writes. */
export interface CalculatorKey {
  /** Output of the kind. */
  name: string;
  key: string;
  /** Undefined: any scalar. A DECIMAL without a scale gets it at run time. */
  type: ColumnType | undefined;
}

/** An exact version of another pipeline of the workspace. */
export interface PipelineRef {
  name: string;
  version: number;
}

/** A node that runs a released version of another pipeline (contract 01 §8). */
export interface ChildNode {
  id: string;
  type: 'PIPELINE';
  description?: string;
  dependsOn: readonly string[];
  pipeline: PipelineRef;
  /** By key of the child: a literal in its wire form, or `${name}` of this pipeline's Context. */
  parameters: ReadonlyMap<string, JsonValue>;
  /** Absent: the child's rows are counted and dropped. */
  output?: NodeOutput;
  settings: NodeSettings;
}

export interface NodeSettings {
  /** Wall clock of the node. */
  timeoutSeconds?: number;
  /** Bound of its statement; SQL nodes only. */
  queryTimeoutSeconds?: number;
}

export type NodeOutput =
  | { target: 'tempdb'; table: string }
  | { target: 'caller' }
  | { target: 'datasource'; datasource: string; table: string; mode: 'replace' | 'append' };

export const TEMPDB = 'tempdb';

/** The size and type a parameter's values are coerced to. */
export function declaredType({ type, precision, scale }: ParameterDeclaration): ColumnType {
  return { type, ...(precision === undefined ? {} : { precision }), ...(scale === undefined ? {} : { scale }) };
}

/** Whether the node's rows are the execution's result (contract 01 §2): by word, or, for a DQL only, by omission. */
export function isCallerNode(node: PipelineNode): boolean {
  if (node.type === 'PIPELINE') return node.output?.target === 'caller';
  return node.type === 'DQL' && (node.output === undefined || node.output.target === 'caller');
}

/** At most one node of a valid document delivers to the caller. */
export function callerNode(document: Pick<PipelineDocument, 'nodes'>): PipelineNode | undefined {
  return document.nodes.find(isCallerNode);
}

export function isSqlNode(node: PipelineNode): node is SqlNode {
  return node.type !== 'CALCULATOR' && node.type !== 'PIPELINE';
}

export function isChildNode(node: PipelineNode): node is ChildNode {
  return node.type === 'PIPELINE';
}

/** The template versions a document pins, one entry per node that pins one. */
export function templatePins({ nodes }: Pick<PipelineDocument, 'nodes'>): TemplateRef[] {
  return nodes.filter(isSqlNode).map(({ template }) => template);
}

/** The pipeline versions a document pins, one entry per PIPELINE node. */
export function pipelinePins({ nodes }: Pick<PipelineDocument, 'nodes'>): PipelineRef[] {
  return nodes.filter(isChildNode).map(({ pipeline }) => pipeline);
}

export function calculatorNodes({ nodes }: Pick<PipelineDocument, 'nodes'>): CalculatorNode[] {
  return nodes.filter((node) => node.type === 'CALCULATOR');
}

/** A document together with the tree that is stored for it. */
export interface ReadDocument {
  document: PipelineDocument;
  /** The normal form: defaults of contract 01 §1 applied, unknown keys and nulls gone, numbers as written. */
  stored: JsonObject;
}
