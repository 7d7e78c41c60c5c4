import { describe, it, expect } from '@jest/globals';
import { isPenstockError } from '#libs/kernel';
import { parseIfMatch, requireIfMatch } from './precondition.js';

const HASH = 'a'.repeat(64);

describe('parseIfMatch', () => {
  it('reads a hash bare, quoted, or as the ETag a read handed out', () => {
    for (const text of [HASH, `"${HASH}"`, `  ${HASH} `, `"${HASH}.1f2e3d4c"`, `${HASH}.1f2e3d4c`]) {
      expect(parseIfMatch(text)).toBe(HASH);
    }
  });

  it('counts everything that names no one version as absent, so that no write is unguarded', () => {
    for (const text of [undefined, null, '', '   ', '""', '*', '"*"', `W/"${HASH}"`, `w/"${HASH}"`, `"${HASH}", "b"`]) {
      expect(parseIfMatch(text)).toBeUndefined();
    }
  });

  it('keeps a wrong hash as it is: it matches no row and the answer is a conflict, not a missing precondition', () => {
    expect(parseIfMatch('"zzz"')).toBe('zzz');
  });

  it('refuses a missing precondition with the reason a client can act on', () => {
    const refused = ((): unknown => {
      try {
        return requireIfMatch('*');
      } catch (error) {
        return error;
      }
    })();
    expect(isPenstockError(refused) && [refused.code, refused.details.reason, refused.status]).toEqual([
      'pipeline.execution.invalid_parameter_type',
      'precondition_missing',
      400,
    ]);
  });
});
