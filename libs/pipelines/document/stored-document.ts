import { isJsonObject, readJson, type JsonObject } from '#libs/kernel';
import type { PipelineDocument } from './pipeline-document.js';
import { completeDocument, readBody } from './read-document.js';
import type { DocumentLimits } from './read-settings.js';

/** A stored version keeps the bounds it was saved under: limits an operator lowered since are judged at the next save. */
const UNLIMITED: DocumentLimits = {
  nodeTimeoutSeconds: Number.MAX_SAFE_INTEGER,
  nodeTimeoutMaxSeconds: Number.MAX_SAFE_INTEGER,
  nodeQueryTimeoutMaxSeconds: Number.MAX_SAFE_INTEGER,
  stagingMaxMemoryMb: Number.MAX_SAFE_INTEGER,
};

/**
 * Types a body this server stored. It is not validated again (contract 01 §1.3).
 * A body with node types of a later version, as a rolled-back deployment may meet, has none: undefined.
 */
export function readStoredDocument(text: string): PipelineDocument | undefined {
  return completeDocument(readBody(storedTree(text), UNLIMITED));
}

/**
 * What would be stored for a body that was released elsewhere, judged by nothing but its form; a body that is not even
 * that has no document.
 *
 * @throws PenstockError `pipeline.execution.invalid_parameter_type` when it is no document at all
 */
export function normalForm(body: JsonObject): { stored: JsonObject; document: PipelineDocument | undefined } {
  const read = readBody(body, UNLIMITED);
  return { stored: read.stored, document: read.notes.hasFailures ? undefined : completeDocument(read) };
}

export function storedTree(text: string): JsonObject {
  const tree = readJson(text, { field: 'body_json' });
  if (!isJsonObject(tree)) throw new TypeError('a stored pipeline body is a JSON object');
  return tree;
}
