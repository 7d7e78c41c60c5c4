import { PenstockError } from '#libs/kernel/pure';

/**
 * The base hash of `If-Match`, `expectedHash` or `expected_hash`: bare or double-quoted, the `.r` tail of an ETag
 * ignored (contract 03 §2). Absent, blank, `*`, a weak tag and a list count as absent.
 */
export function parseIfMatch(text: string | undefined | null): string | undefined {
  const trimmed = text?.trim() ?? '';
  const bare = /^"([^"]*)"$/.exec(trimmed)?.[1] ?? trimmed;
  if (bare === '' || bare === '*' || /^W\//i.test(trimmed) || trimmed.includes(',')) return undefined;
  const dot = bare.indexOf('.');
  const tag = (dot < 0 ? bare : bare.slice(0, dot)).trim();
  return tag === '' || tag === '*' ? undefined : tag;
}

/**
 * The base hash every write, release and draft discard must carry.
 * @throws PenstockError `pipeline.execution.invalid_parameter_type`, reason `precondition_missing`.
 */
export function requireIfMatch(text: string | undefined | null): string {
  const hash = parseIfMatch(text);
  if (hash !== undefined) return hash;
  throw new PenstockError('pipeline.execution.invalid_parameter_type', {
    message: 'Send the body_hash you read as If-Match (expected_hash), so that nobody else’s edit is overwritten.',
    details: { field: 'If-Match', reason: 'precondition_missing' },
  });
}
