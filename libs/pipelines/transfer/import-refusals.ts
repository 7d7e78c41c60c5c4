import { PenstockError, validationError, type ErrorCode, type Failure } from '#libs/kernel';
import { hashMismatch } from '#libs/lifecycle';
import type { UnreleasedPin } from '#libs/templates';

/** What this deployment lacks, per finding of the validation that says so (contract 05 §12). */
const LACKS: Partial<Record<ErrorCode, ErrorCode>> = {
  'pipeline.validation.unknown_datasource': 'pipeline.import.missing_datasource',
  'pipeline.validation.template_not_found': 'pipeline.import.missing_template',
  'pipeline.validation.template_version_not_found': 'pipeline.import.missing_template',
};
const ORGANISATION_KEY = /^org_/;

/**
 * The refusal of a body that breaks rules here. What is missing here comes first and all at once, because bringing it
 * is what the importer does next; a bound `org_*` key that this deployment does not have is a conflict of its own.
 */
export function importRefusal(failures: readonly Failure[], path: string): PenstockError {
  const judged = failures.map((failure) => ({
    ...failure,
    path: path === '' ? failure.path : `${path}.${failure.path}`,
  }));
  const keys = judged.flatMap(({ details }) => {
    const variable = details?.['variable'];
    return typeof variable === 'string' && ORGANISATION_KEY.test(variable) ? [variable] : [];
  });
  const missing = judged.flatMap((failure) => {
    const code = LACKS[failure.code];
    return code === undefined ? [] : [{ ...failure, code }];
  });
  const others = judged.filter(({ code }) => LACKS[code] === undefined);
  if (missing.length === 0 && keys.length > 0) {
    return new PenstockError('pipeline.import.context_key_missing', {
      message: `The body binds ${[...new Set(keys)].join(', ')}, which this deployment does not configure.`,
      details: { context_keys: [...new Set(keys)], failures: others },
    });
  }
  return validationError([...missing, ...others]);
}

/** Pins that are here, or in the file, but not RELEASED. */
export function missingTemplates(pins: readonly UnreleasedPin[]): PenstockError {
  return validationError(
    pins.map((pin) => ({
      code: 'pipeline.import.missing_template' as const,
      path: 'pipeline.nodes',
      message: `The template "${pin.template_id}" version ${pin.template_version} is not released here: import or release it first.`,
      details: { ...pin },
    })),
  );
}

/** The name belongs to another pipeline of the workspace, or the id to one of another workspace: both look alike. */
export function nameTaken(name: string, id: string | undefined): PenstockError {
  return new PenstockError('pipeline.validation.duplicate_name', {
    message:
      'The name or the id of the file belongs to another pipeline: names stay taken, discarded pipelines included.',
    details: { name, ...(id === undefined ? {} : { id }) },
  });
}

export function wrongHash(path: string, stated: string, computed: string): Failure {
  return hashMismatch(
    'pipeline',
    path === '' ? 'body_hash' : `${path}.body_hash`,
    'The body does not hash to its "body_hash": the file was changed or damaged; export it again.',
    { body_hash: stated, computed_body_hash: computed },
  );
}

export function versionTaken(
  path: string,
  { version, hash }: { version: number; hash: string },
  subject: { status: string; bodyHash: string } | undefined,
): Failure {
  return {
    code: 'pipeline.import.version_conflict',
    path: path === '' ? 'version' : `${path}.version`,
    message: `Version ${version} exists here with another content or status: import it without "version" to make it the next one.`,
    details: {
      pipeline_version: version,
      body_hash: hash,
      current_body_hash: subject?.bodyHash ?? null,
      current_status: subject?.status ?? null,
    },
  };
}
