import { operationRow, type OperationId } from '#libs/identity';
import type { Principal, Scope } from '#libs/kernel';
import { isOptional, type ArgumentShape, type ArgumentsOf, type JsonSchema } from './arguments.js';

/**
 * What a tool is, apart from how it works: the row of the catalogue that `tools/list`, the documentation and the tests
 * read (06 §12).
 */
export interface ToolDeclaration<S extends ArgumentShape = ArgumentShape> {
  name: string;
  title: string;
  /** For a model that has to choose and to call: what it does, when to use it, what it refuses. */
  description: string;
  operation: OperationId;
  arguments: S;
  /** Schema of the structured result. */
  result: JsonSchema;
  /** The member that a list or a text stands under in the structured result, which is always an object. */
  wrappedAs?: string;
  /** The argument that names what is acted on, for the audit trail. */
  target?: keyof S & string;
  effect: Effect;
}

/**
 * `reads`: nothing changes. `creates`: adds. `replaces`: overwrites or removes what was there. `runs`: whatever the
 * author's SQL does.
 */
export type Effect = 'reads' | 'creates' | 'replaces' | 'runs';

/** One call of a tool, judged and read. */
export interface ToolCall {
  principal: Principal;
  /** Aborts when the client is gone. */
  signal: AbortSignal;
  /** Absent when the client did not ask to be told. */
  progress?: (step: ProgressStep) => Promise<void>;
}

export interface ProgressStep {
  /** Grows with each step. */
  progress: number;
  total?: number;
  message: string;
}

/** A tool at work. Returns what `writeJson` writes; refusals are PenstockErrors. */
export interface Tool {
  declaration: ToolDeclaration;
  run: (call: ToolCall, given: Readonly<Record<string, unknown>>) => Promise<unknown>;
}

/** The tools of one family. */
export interface ToolFamily {
  readonly tools: readonly Tool[];
}

/** Declares a tool; keeps the types of its arguments. */
export function declare<const S extends ArgumentShape>(declaration: ToolDeclaration<S>): ToolDeclaration<S> {
  return declaration;
}

/** Joins a declaration to the work; the arguments come as its shape says. */
export function serve<S extends ArgumentShape>(
  declaration: ToolDeclaration<S>,
  run: (call: ToolCall, given: ArgumentsOf<S>) => Promise<unknown>,
): Tool {
  return { declaration: declaration as unknown as ToolDeclaration, run: run as Tool['run'] };
}

/** The least scope of a key that may call it. */
export function scopeOf({ operation }: ToolDeclaration): Scope {
  const { user } = operationRow(operation).credentials;
  if (user === undefined) throw new TypeError(`no key may call a tool of ${operation}`);
  return user;
}

export function inputSchema({ arguments: shape }: ToolDeclaration): JsonSchema {
  const required = Object.keys(shape).filter((name) => !isOptional(shape[name]!));
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(shape).map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/** A row of `tools/list`. */
export function listedTool(declaration: ToolDeclaration): Record<string, unknown> {
  const { name, title, description, result, effect } = declaration;
  return {
    name,
    title,
    description,
    inputSchema: inputSchema(declaration),
    outputSchema: result,
    annotations: {
      title,
      readOnlyHint: effect === 'reads',
      destructiveHint: effect === 'replaces' || effect === 'runs',
      idempotentHint: effect === 'reads',
      openWorldHint: false,
    },
  };
}
