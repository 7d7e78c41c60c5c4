import { ExactNumber, isJsonObject, validationError, type JsonObject, type JsonValue } from '#libs/kernel';
import { folderPathDefect } from '#libs/lifecycle';
import { quoteForMessage } from '#libs/typesystem';
import { reflected } from '#libs/templates';
import { Notes } from './notes.js';
import { integerToken, ObjectReader } from './object-reader.js';
import { completeCheck, readChecks, type ReadCheck } from './read-checks.js';
import type { ParameterDeclaration, PipelineDocument, PipelineSettings } from './pipeline-document.js';
import { completeNode, readNodes, type ReadNode } from './read-nodes.js';
import { readParameters } from './read-parameters.js';
import { readSettings, type DocumentLimits } from './read-settings.js';

export const MAX_DISPLAY_NAME_CHARS = 200;

/** Keys the server answers with, silently dropped when a read comes back as a write. */
const SERVER_KEYS: ReadonlySet<string> = new Set([
  'id',
  'version',
  'owner',
  'owner_id',
  'workspace',
  'created_at',
  'created_by',
  'created_via',
  'updated_at',
  'updated_by',
  'updated_via',
  'released_at',
  'released_by',
  'discarded_at',
  'discarded_by',
  'status',
  'body_hash',
  'current_version',
  'draft',
  'folder',
  'inputs',
  'upgrade_available',
  'entity_status',
  'version_stamps',
  'warnings',
]);

/** A body as far as it could be read, with everything that is wrong with it in `notes`. */
export interface ReadBody {
  name?: string;
  displayName: string;
  description: string;
  settings: PipelineSettings;
  parameters: ReadonlyMap<string, ParameterDeclaration>;
  /** Every name under `parameters`, also of declarations that are wrong. */
  parameterNames: readonly string[];
  nodes: readonly ReadNode[];
  checks: readonly ReadCheck[];
  /** The normal form (contract 01 §1); only worth storing when nothing failed. */
  stored: JsonObject;
  notes: Notes;
}

/**
 * Reads a pipeline body by the rules that need nothing but the body.
 * @throws PenstockError `pipeline.execution.invalid_parameter_type` when it is no document at all: a wrong container.
 */
export function readBody(body: JsonValue, limits: DocumentLimits): ReadBody {
  const notes = new Notes();
  if (!isJsonObject(body)) {
    notes.malformed('', 'a JSON object');
    throw validationError(notes.malformedFailures);
  }
  const reader = new ObjectReader('', body, notes);
  readSchemaVersion(reader);
  const name = readName(reader);
  const displayName = readDisplayName(reader, name);
  const description = reader.text('description') ?? '';
  reader.stored.description = description;
  const settings = readSettings(reader, limits);
  const parameters = readParameters(reader);
  const nodes = readNodes(reader, limits);
  const checks = readChecks(reader, parameters);
  reader.finish(SERVER_KEYS);
  if (notes.malformedFailures.length > 0) throw validationError(notes.malformedFailures);
  return {
    ...(name === undefined ? {} : { name }),
    displayName,
    description,
    settings,
    parameters,
    parameterNames: isJsonObject(body.parameters) ? Object.keys(body.parameters) : [],
    nodes,
    checks,
    stored: reader.stored,
    notes,
  };
}

/** The typed document of a body in which nothing failed. */
export function completeDocument(body: ReadBody): PipelineDocument | undefined {
  const nodes = body.nodes.map(completeNode).filter((node) => node !== undefined);
  const checks = body.checks.map(completeCheck).filter((check) => check !== undefined);
  if (body.name === undefined || nodes.length !== body.nodes.length) return undefined;
  if (checks.length !== body.checks.length) return undefined;
  const { name, displayName, description, settings, parameters } = body;
  return { schemaVersion: 1, name, displayName, description, settings, parameters, nodes, checks };
}

function readSchemaVersion(reader: ObjectReader): void {
  const version = reader.value('schema_version');
  if (version === undefined) {
    reader.stored.schema_version = new ExactNumber('1');
    return;
  }
  if (integerToken(version) === 1) return;
  reader.notes.fail('pipeline.validation.schema_version_unsupported', 'schema_version', 'Set "schema_version" to 1.', {
    supported: [1],
  });
}

function readName(reader: ObjectReader): string | undefined {
  const name = reader.value('name');
  const defect = typeof name === 'string' ? folderPathDefect(name) : 'grammar';
  if (typeof name === 'string' && defect === undefined) return name;
  reader.notes.fail(
    'pipeline.validation.name_invalid',
    'name',
    defect === 'folder_required'
      ? `Put the pipeline into a folder, such as ${quoteForMessage(`team/${String(name)}`)}.`
      : 'Name the pipeline with 2 to 10 segments joined by "/", each [a-z0-9][a-z0-9_.-]{0,63}, 200 characters at most.',
    { reason: defect, ...(typeof name === 'string' ? { name: reflected(name) } : {}) },
  );
  return undefined;
}

function readDisplayName(reader: ObjectReader, name: string | undefined): string {
  const text = reader.text('display_name');
  if (text === undefined) {
    const last = name?.slice(name.lastIndexOf('/') + 1) ?? '';
    reader.stored.display_name = last;
    return last;
  }
  if (text.trim() === '' || text.length > MAX_DISPLAY_NAME_CHARS) {
    reader.notes.wrongField('display_name', `1 to ${MAX_DISPLAY_NAME_CHARS} characters`);
  }
  return text;
}
