import { describe, expect, it } from '@jest/globals';

import { factBody, refusal, semanticsScene } from '../semantics.fixture.js';

/** More than any listing shows. */
const TABLES = 6000;

describe('a fact about one of thousands of tables', () => {
  const scene = semanticsScene();

  it('finds the table by its name, wherever a listing would have been cut, and suggests one where there is none', async () => {
    const tables = Array.from(
      { length: TABLES },
      (_, at) => `CREATE TABLE t_${String(at).padStart(4, '0')} (n INTEGER);`,
    );
    scene.onSqlite(`BEGIN; ${tables.join(' ')} CREATE TABLE zz_last (total INTEGER); COMMIT`);
    const about = (table: string, column?: string) =>
      factBody({ fact: 'totals hold cents of euro', refs: [{ table, ...(column === undefined ? {} : { column }) }] });
    const { service } = scene.semantics;
    const recorded = await service.record(scene.team.author, 'lite', about('zz_last', 'total'));
    expect(recorded.refs).toEqual([{ table: 'zz_last', column: 'total' }]);
    const missing = await refusal(service.record(scene.team.author, 'lite', about('t_001')));
    expect([missing.code, missing.details['suggestion']]).toEqual([
      'semantics.ref_unresolved',
      expect.stringMatching(/^t_/),
    ]);
    const column = await refusal(service.record(scene.team.author, 'lite', about('zz_last', 'totl')));
    expect([column.code, column.details['suggestion']]).toEqual(['semantics.ref_unresolved', 'total']);
  });
});
