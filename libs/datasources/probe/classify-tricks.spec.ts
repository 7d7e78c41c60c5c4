import { describe, expect, it } from '@jest/globals';

import { DIALECTS } from '#libs/typesystem';

import { classifyProbe } from './classify-probe.js';
import { DISGUISES, HARMFUL_READS, WRITING_TRICKS } from '../../../test/fixtures/probe-tricks.js';

describe('the words of a probe', () => {
  const cases = DIALECTS.flatMap((dialect) => Object.keys(DISGUISES).map((disguise) => [dialect, disguise] as const));

  it.each(cases)('on %s tell every statement that writes or harms, %s', (dialect, disguise) => {
    const corpus = [...WRITING_TRICKS[dialect], ...(HARMFUL_READS[dialect] ?? [])];
    const passed = corpus.map((sql) => DISGUISES[disguise]!(sql)).filter((sql) => classifyProbe(dialect, sql).ok);
    expect(passed).toEqual([]);
  });

  it.each(DIALECTS)('on %s let reads pass that only look like it', (dialect) => {
    const reads = [
      'SELECT shared, keys, locks FROM shares WHERE mode = 1',
      "SELECT 'LOCK IN SHARE MODE', 'FOR SHARE', 'REVERT' FROM t",
      'SELECT next, value FROM t ORDER BY next',
      'SELECT nextvalue(a) FROM t',
      'WITH lock_in AS (SELECT 1 AS a) SELECT a FROM lock_in',
      'SELECT count(*) FROM t GROUP BY a HAVING count(*) > 1',
    ];
    expect(reads.filter((sql) => !classifyProbe(dialect, sql).ok)).toEqual([]);
  });
});
