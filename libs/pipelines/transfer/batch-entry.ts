import {
  fieldFailure,
  isJsonObject,
  PenstockError,
  validationError,
  type Failure,
  type JsonObject,
  type JsonValue,
} from '#libs/kernel';
import { readPipelineFile, type ReadPipelineFile } from './pipeline-file.js';

/** One pipeline of a batch: a release as it was exported, with its number and hash. */
export interface BatchEntry extends ReadPipelineFile {
  id: string;
  mark: ReadPipelineFile['mark'] & { version: number; bodyHash: string };
  /** Whether it is to be the current version here, or only stands below a parent that pins it. */
  current: boolean;
}

const CURRENT = 'current';

/**
 * Reads the pipelines of a batch, each an exported record, with everything that is wrong in them.
 *
 * @param path where the list stands
 * @throws PenstockError with every failure; `pipeline.promotion.not_released` for a record that is no release
 */
export function readBatchEntries(path: string, entries: JsonValue | undefined, maxEntries: number): BatchEntry[] {
  if (!Array.isArray(entries))
    throw validationError([fieldFailure(path, `"${path}" must be a list of exported pipelines.`)]);
  if (entries.length > maxEntries) {
    throw validationError([
      fieldFailure(path, `"${path}" may hold ${maxEntries} pipelines at most: send fewer at a time.`),
    ]);
  }
  const read = entries.map((entry, index) => readEntry(`${path}[${index}]`, entry));
  const failures = read.flatMap((each) => each.failures);
  const files = read.flatMap(({ entry }) => entry ?? []);
  failures.push(...repeated(files));
  if (failures.length > 0) throw validationError(failures);
  const unreleased = files.filter(({ body }) => body['status'] !== 'RELEASED');
  if (unreleased.length > 0) throw notReleased(unreleased);
  return files;
}

function readEntry(path: string, entry: JsonValue): { entry?: BatchEntry; failures: Failure[] } {
  if (!isJsonObject(entry)) return { failures: [fieldFailure(path, `"${path}" must be an object.`)] };
  const { [CURRENT]: flag, ...rest } = entry;
  const body: JsonObject = Object.assign(Object.create(null) as JsonObject, rest);
  const { file, failures } = readPipelineFile({ pipeline: body });
  const found = failures.map((failure) => ({ ...failure, path: failure.path.replace(/^pipeline/, path) }));
  const { id, mark } = file;
  if (id === undefined && found.length === 0)
    found.push(fieldFailure(`${path}.id`, 'A promoted pipeline brings its "id".'));
  if (mark.version === undefined && found.length === 0) {
    found.push(fieldFailure(`${path}.version`, 'A promoted pipeline brings its "version" and "body_hash".'));
  }
  if (flag !== undefined && typeof flag !== 'boolean') {
    found.push(fieldFailure(`${path}.${CURRENT}`, '"current" must be true or false.'));
  }
  const { version, bodyHash } = mark;
  if (found.length > 0 || id === undefined || version === undefined || bodyHash === undefined)
    return { failures: found };
  return { entry: { ...file, path, id, mark: { ...mark, version, bodyHash }, current: flag !== false }, failures: [] };
}

/** One version twice in a batch would be decided by its order. */
function repeated(files: readonly BatchEntry[]): Failure[] {
  const seen = new Set<string>();
  return files.flatMap(({ path, id, mark }): Failure[] => {
    const key = `${id.toLowerCase()}@${mark.version}`;
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [fieldFailure(path, 'The batch holds this pipeline version twice: leave one of them out.', 'repeated')];
  });
}

function notReleased(entries: readonly BatchEntry[]): PenstockError {
  return validationError(
    entries.map(({ path, body, mark }) => ({
      code: 'pipeline.promotion.not_released' as const,
      path: `${path}.status`,
      message: `Version ${mark.version} of "${String(body['name']).slice(0, 200)}" is not released: only releases are promoted.`,
      details: { pipeline_version: mark.version },
    })),
  );
}
