import {
  isExactNumber,
  isJsonObject,
  isUuid,
  toWireStamp,
  type Failure,
  type JsonObject,
  type JsonValue,
} from '#libs/kernel';
import { readReleaseMark, type ReleaseMark } from '#libs/lifecycle';
import type { TemplateFile } from '#libs/templates';
import { storedTree } from '../document/stored-document.js';
import type { PipelineVersionRow } from '../pipeline.repository.js';

/** An export: one released version, the templates it needs, and what was exported when (contract 05 §12). */
export interface PipelineFile {
  pipeline: JsonObject;
  templates: readonly TemplateFile[];
  manifest: { pipeline_id: string; pipeline_version: number; template_count: number; exported_at: string };
}

/** An import as far as it could be read. */
export interface ReadPipelineFile {
  /** The record: the document's keys among those of the release. */
  body: JsonObject;
  /** Where the record stands in what was sent: `pipeline`, or empty for a record alone. */
  path: string;
  id: string | undefined;
  mark: ReleaseMark;
  /** Absent when the file brings none. */
  templates: JsonValue | undefined;
}

/** The document's own keys, and what identifies the release. Numbers keep their spelling. */
export function pipelineRecord(row: PipelineVersionRow): JsonObject {
  return {
    ...storedTree(row.body),
    id: row.pipelineId,
    version: row.version,
    status: row.status,
    body_hash: row.bodyHash,
    released_at: row.releasedAt === null ? null : toWireStamp(row.releasedAt),
  } as unknown as JsonObject;
}

/** Takes an export as it is, or a pipeline record alone. */
export function readPipelineFile(sent: JsonObject): { file: ReadPipelineFile; failures: Failure[] } {
  const wrapped = Object.hasOwn(sent, 'pipeline');
  const body = wrapped ? sent['pipeline'] : sent;
  const path = wrapped ? 'pipeline' : '';
  const failures: Failure[] = [];
  const wrong = (field: string, message: string): void => {
    failures.push({
      code: 'pipeline.execution.invalid_parameter_type',
      path: field,
      message,
      details: { field, reason: 'field' },
    });
  };
  if (!isJsonObject(body)) {
    wrong('pipeline', '"pipeline" must be the exported pipeline, an object.');
    return {
      file: { body: Object.create(null) as JsonObject, path, id: undefined, mark: {}, templates: undefined },
      failures,
    };
  }
  if (wrapped) {
    for (const key of Object.keys(sent)) {
      if (!FILE_KEYS.has(key))
        wrong(key.slice(0, 64), 'An import holds "pipeline", "templates" and "manifest", nothing else.');
    }
  }
  const { id } = body;
  const known = typeof id === 'string' && isUuid(id);
  if (id !== undefined && id !== null && !known) {
    wrong(
      path === '' ? 'id' : `${path}.id`,
      'The "id" of a pipeline is a UUID: leave it out to import it as a new pipeline.',
    );
  }
  const { mark, failures: marked } = readReleaseMark('pipeline', path, {
    version: versionOf(body['version']),
    given: body,
  });
  return {
    file: { body, path, id: known ? id : undefined, mark, templates: wrapped ? sent['templates'] : undefined },
    failures: [...failures, ...marked],
  };
}

const FILE_KEYS: ReadonlySet<string> = new Set(['pipeline', 'templates', 'manifest']);
const MAX_VERSION = 2_147_483_647;

function versionOf(value: JsonValue | undefined): number | undefined {
  if (!isExactNumber(value) || !/^[1-9]\d{0,9}$/.test(value.value)) return undefined;
  const version = Number(value.value);
  return version <= MAX_VERSION ? version : undefined;
}
