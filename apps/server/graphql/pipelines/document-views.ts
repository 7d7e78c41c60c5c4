import { isExactNumber, isJsonObject, writeJson, type JsonObject, type JsonValue } from '#libs/kernel';
import { executeInputs } from '#libs/pipelines';
import type { ParameterType, PipelineNodeType, RefType } from './pipeline.types.js';

/** What an execute request may carry: the declared parameters of a stored document, then its calculators' keys. */
export function parametersOf(document: JsonObject): ParameterType[] {
  return executeInputs(document).map(({ precision, scale, default: fallback, description, ...input }) => ({
    ...input,
    precision: precision ?? null,
    scale: scale ?? null,
    defaultJson: fallback === undefined ? null : writeJson(fallback),
    description: description ?? null,
  }));
}

/** The nodes of a stored document, in its order. */
export function nodesOf(document: JsonObject): PipelineNodeType[] {
  const nodes = document['nodes'];
  return Array.isArray(nodes) ? nodes.flatMap((value) => (isJsonObject(value) ? [node(value)] : [])) : [];
}

function node(value: JsonObject): PipelineNodeType {
  const dependsOn = value['depends_on'];
  return {
    id: textOf(value['id']) ?? '',
    type: textOf(value['type']) ?? '',
    description: textOf(value['description']),
    source: textOf(value['source']),
    template: refOf(value['template']),
    pipeline: refOf(value['pipeline']),
    output: value['output'] ?? null,
    dependsOn: Array.isArray(dependsOn) ? dependsOn.filter((id) => typeof id === 'string') : [],
    settings: value['settings'] ?? null,
  };
}

/** Documents name templates by `id`, which is their name. */
function refOf(value: JsonValue | undefined): RefType | null {
  if (!isJsonObject(value)) return null;
  const name = textOf(value['id']) ?? textOf(value['name']);
  const version = numberOf(value['version']);
  return name === null || version === null ? null : { name, version };
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** Versions, precisions and scales are small whole numbers. */
function numberOf(value: JsonValue | undefined): number | null {
  return isExactNumber(value) ? Number(value.value) : null;
}
