import type { Failure } from '#libs/kernel/pure';
import type { VersionedFamily } from './refusal.js';

/** What a file says of the release it holds (contract 05 §12). Without a version it becomes the next one here. */
export interface ReleaseMark {
  version?: number;
  /** What the content must hash to; present whenever `version` is. */
  bodyHash?: string;
  /** RFC 3339 with a zone; absent: released by the import. */
  releasedAt?: string;
}

const HASH = /^[0-9a-f]{64}$/;
const STAMP = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/;

/** Code of content that is not what its file says, per family. */
export function hashMismatch(
  family: VersionedFamily,
  path: string,
  message: string,
  details: Record<string, unknown>,
): Failure {
  return family === 'pipeline'
    ? { code: 'pipeline.import.hash_mismatch', path, message, details }
    : { code: 'template.version.conflict', path, message, details: { reason: 'hash_mismatch', ...details } };
}

/** Reads `version`, `body_hash` and `released_at` of a file entry that stands at `path`. */
export function readReleaseMark(
  family: VersionedFamily,
  path: string,
  fields: { version: number | undefined; given: Readonly<Record<string, unknown>> },
): { mark: ReleaseMark; failures: Failure[] } {
  const failures: Failure[] = [];
  const { version, given } = fields;
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const field = (key: string, expected: string): void => {
    failures.push({
      code: 'pipeline.execution.invalid_parameter_type',
      path: at(key),
      message: `"${at(key)}" must be ${expected}.`,
      details: { field: at(key), reason: 'field' },
    });
  };
  if (isGiven(given, 'version') && (version === undefined || version < 1)) {
    field('version', 'a whole number of 1 or more; leave it out to import as the next version');
  }
  const hash = given['body_hash'];
  const bodyHash = typeof hash === 'string' && HASH.test(hash) ? hash : undefined;
  if (isGiven(given, 'version') && bodyHash === undefined) {
    failures.push(
      hashMismatch(
        family,
        at('body_hash'),
        'A file that names a "version" carries the "body_hash" it was exported with: 64 hexadecimal digits.',
        {},
      ),
    );
  } else if (isGiven(given, 'body_hash') && bodyHash === undefined) {
    field('body_hash', '64 lower-case hexadecimal digits');
  }
  const stamp = given['released_at'];
  if (isGiven(given, 'released_at') && !(typeof stamp === 'string' && isStamp(stamp))) {
    field('released_at', 'a time with a zone, such as 2026-03-01T07:05:09Z');
  }
  return {
    failures,
    mark: {
      ...(version === undefined ? {} : { version }),
      ...(bodyHash === undefined ? {} : { bodyHash }),
      ...(typeof stamp === 'string' ? { releasedAt: stamp } : {}),
    },
  };
}

function isGiven(fields: Readonly<Record<string, unknown>>, key: string): boolean {
  return Object.hasOwn(fields, key) && fields[key] !== null && fields[key] !== undefined;
}

/** A real day, so that the database never meets another. */
function isStamp(text: string): boolean {
  const [, year, month, day] = (STAMP.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined || year < 1) return false;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
