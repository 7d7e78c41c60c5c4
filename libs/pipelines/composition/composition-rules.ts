import { suppliedJson } from '#libs/calculators';
import type { JsonValue } from '#libs/kernel';
import { reflected } from '#libs/templates';
import { coerceJson, quoteForMessage, type ColumnType } from '#libs/typesystem';
import type { Notes } from '../document/notes.js';
import type { ReadChild } from '../document/read-child.js';
import type { ReadNode } from '../document/read-nodes.js';
import { unorderedAdvice, type ContextKeys, type FoundKey, type KeyWriter } from '../validation/context-keys.js';
import { contextReference } from './context-reference.js';
import { pipelineKey, type ChildKey, type PinnedPipeline } from './pinned-pipelines.js';

/** Looks a key of the Context up, as one node sees it. */
type Finder = (key: string) => FoundKey;

/** What PIPELINE nodes are judged against. */
export interface CompositionScope {
  /** Name of the pipeline that is judged. */
  ownName: string | undefined;
  /** Pinned versions in sight, by `pipelineKey`. */
  pinned: ReadonlyMap<string, PinnedPipeline>;
  /** The Context of the pipeline, as each of its nodes sees it. */
  keys: ContextKeys;
}

/** Judges every PIPELINE node: its pin, what it supplies, whether there are rows to put anywhere (contract 01 §8). */
export function judgeComposition(nodes: readonly ReadNode[], scope: CompositionScope, notes: Notes): void {
  for (const [position, node] of nodes.entries()) {
    if (!node.child) continue;
    const child = judgePin(node, node.child, scope, notes);
    if (!child) continue;
    judgeParameters(node, node.child, child, (key) => scope.keys.find(key, position), notes);
    judgeCalculatorKeys(node, node.child, child, notes);
    if (node.output === undefined || child.hasCaller) continue;
    notes.fail(
      'pipeline.validation.pipeline_output_on_sideeffect_child',
      `${node.path}.output`,
      `"${child.name}" version ${child.version} returns no rows: drop "output", or give the child a caller node.`,
      { pipeline: child.name, pipeline_version: child.version },
    );
  }
}

function judgePin(
  { path }: ReadNode,
  { referenced, name, version }: ReadChild,
  { ownName, pinned }: CompositionScope,
  notes: Notes,
): PinnedPipeline | undefined {
  const at = `${path}.pipeline`;
  if (name === undefined) {
    notes.fail(
      'pipeline.validation.pipeline_not_found',
      referenced ? `${at}.name` : at,
      'Name the child as {"name": its folder path, "version": the number of a release}.',
    );
    return undefined;
  }
  if (name === ownName) {
    notes.fail(
      'pipeline.validation.pipeline_self_reference',
      `${at}.name`,
      'A pipeline cannot call itself, not even an earlier version: move what both share into a pipeline of its own.',
      { pipeline: name },
    );
    return undefined;
  }
  if (version === undefined) {
    notes.fail(
      'pipeline.validation.pipeline_version_not_found',
      `${at}.version`,
      'Pin an exact version: a whole number of 1 or more.',
      { pipeline: reflected(name) },
    );
    return undefined;
  }
  const found = pinned.get(pipelineKey({ name, version }));
  const defect = pinDefect(found, name, version);
  if (!defect) return found;
  notes.fail(defect.code, `${at}.${defect.field}`, defect.message, {
    pipeline: reflected(name),
    pipeline_version: version,
    ...(found?.status ? { status: found.status } : {}),
  });
  return undefined;
}

/** What is wrong with a pin, also when a writing transaction looks again. */
export function pinDefect(found: PinnedPipeline | undefined, name: string, version: number) {
  if (!found) {
    return {
      code: 'pipeline.validation.pipeline_not_found' as const,
      field: 'name' as const,
      message: `This workspace has no pipeline ${quoteForMessage(name)}.`,
    };
  }
  if (!found.live) {
    return {
      code: 'pipeline.validation.pipeline_reference_deleted' as const,
      field: 'name' as const,
      message: `Every version of "${name}" is discarded: restore one, or call another pipeline.`,
    };
  }
  if (found.status === null) {
    return {
      code: 'pipeline.validation.pipeline_version_not_found' as const,
      field: 'version' as const,
      message: `"${name}" has no version ${version}.`,
    };
  }
  if (found.status !== 'RELEASED') {
    return {
      code: 'pipeline.validation.pipeline_reference_not_released' as const,
      field: 'version' as const,
      message: `Version ${version} of "${name}" is ${found.status}: only released versions can be called.`,
    };
  }
  return undefined;
}

function judgeParameters(
  { path }: ReadNode,
  { parameters }: ReadChild,
  child: PinnedPipeline,
  find: Finder,
  notes: Notes,
): void {
  for (const [key, value] of parameters) {
    if (notes.isFull) return;
    const at = `${path}.parameters.${reflected(key)}`;
    const expected = child.keys.get(key);
    if (expected) judgeValue(at, key, value, expected, find, notes);
    else {
      notes.fail(
        'pipeline.validation.pipeline_parameter_unknown',
        at,
        `"${child.name}" version ${child.version} has no parameter ${quoteForMessage(key)}. It takes: ${takes(child)}.`,
        { parameter: reflected(key), reason: 'parameter' },
      );
    }
  }
  for (const [key, { required, type }] of child.keys) {
    if (!required || parameters.has(key)) continue;
    notes.fail(
      'pipeline.validation.pipeline_parameter_unmapped',
      `${path}.parameters`,
      `"${child.name}" requires "${key}" (${nameOf(type)}): give a value, or a key of the Context as "\${name}".`,
      { parameter: key, expected: nameOf(type) },
    );
  }
}

/** Values for a calculator of the child replace its run: all of them, or none (contract 01 §7.2). */
function judgeCalculatorKeys({ path }: ReadNode, { parameters }: ReadChild, child: PinnedPipeline, notes: Notes): void {
  const byNode = new Map<string, string[]>();
  for (const [key, { calculator }] of child.keys) {
    if (calculator !== undefined) byNode.set(calculator, [...(byNode.get(calculator) ?? []), key]);
  }
  for (const [node, keys] of byNode) {
    const missing = keys.filter((key) => !parameters.has(key));
    if (missing.length === 0 || missing.length === keys.length) continue;
    notes.fail(
      'pipeline.validation.pipeline_parameter_unmapped',
      `${path}.parameters`,
      `Give all values of the calculator "${node}" of "${child.name}", or none: ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing.`,
      { reason: 'calculator_keys_partial', calculator: node, missing },
    );
  }
}

function takes({ keys }: PinnedPipeline): string {
  const names = [...keys.keys()];
  return names.length === 0 ? 'none' : `${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}`;
}

function judgeValue(
  at: string,
  key: string,
  value: JsonValue,
  { type, calculator }: ChildKey,
  find: Finder,
  notes: Notes,
): void {
  const wanted = nameOf(type);
  const mismatch = (message: string, details: Record<string, unknown>) =>
    notes.fail('pipeline.validation.pipeline_parameter_type_mismatch', at, message, {
      parameter: key,
      expected: wanted,
      ...details,
    });
  const reference = contextReference(value);
  if (reference.kind === 'expression') {
    return mismatch('A value is a literal, or exactly "${name}": expressions and texts around it are not evaluated.', {
      reason: 'expression',
    });
  }
  if (reference.kind === 'literal') {
    const read = calculator === undefined && type ? coerceJson(type, value) : suppliedJson(type, value);
    if (!read.ok) mismatch(`"${key}" (${wanted}): ${read.message}.`, { reason: 'literal' });
    return;
  }
  const found = find(reference.name);
  if (!found.known) return unknownReference(at, key, reference.name, found.writer, notes);
  const given = found.type;
  if (given === undefined || type === undefined || given.type === type.type) return;
  mismatch(`"${reference.name}" is ${given.type}, "${key}" of the child is ${wanted}: both must be the same type.`, {
    reason: 'reference',
    reference: reference.name,
    found: given.type,
  });
}

function unknownReference(
  at: string,
  key: string,
  reference: string,
  writer: KeyWriter | undefined,
  notes: Notes,
): void {
  if (writer) {
    notes.fail('pipeline.validation.calculator_input_unordered', at, unorderedAdvice(writer), {
      parameter: key,
      key: reference,
      writer: writer.path,
    });
    return;
  }
  notes.fail(
    'pipeline.validation.pipeline_parameter_unknown',
    at,
    `Nothing in this pipeline's Context is called "${reference}": declare it as a parameter.`,
    { parameter: key, reference, reason: 'reference' },
  );
}

/** A type as messages name it; undefined takes any scalar. */
function nameOf(type: ColumnType | undefined): string {
  return type?.type ?? 'ANY';
}
