import { expect, it } from '@jest/globals';

import { factBody, refusal, semanticsScene } from '../semantics.fixture.js';

/** More than this, and the words of a fact are compared with no table (contract 06 §11, step 5). */
const MOST = 2000;

const scene = semanticsScene();
const record = (fact: string) =>
  scene.semantics.service.record(scene.team.author, 'lite', factBody({ fact, refs: [{ table: 'orders' }] }));
const addTables = (from: number, to: number): void => {
  const tables = Array.from({ length: to - from }, (_, at) => `CREATE TABLE daily_sales_${from + at} (a INTEGER);`);
  scene.onSqlite(`BEGIN; ${tables.join('\n')} COMMIT`);
};

it('of a datasource with 2,000 tables are judged by its words, of one with more they are taken as they are', async () => {
  const before = (await scene.semantics.catalog.tables(scene.team.viewer, 'lite')).tables.length;
  addTables(0, MOST - before);
  const near = 'see dayly_sales_7 for the rest';
  expect((await refusal(record(near))).code).toBe('semantics.ref_mismatch');
  const named = await record('daily_sales_7 has the rest of it');
  expect(named.refs_added).toEqual([{ table: 'daily_sales_7' }]);
  addTables(MOST - before, MOST - before + 1);
  expect((await record(near)).refs_added).toEqual([]);
  expect((await record('daily_sales_8 has the rest of it')).refs).toEqual([{ table: 'orders' }]);
  // What it refers to is looked for all the same.
  const unresolved = factBody({ fact: 'nothing is known of it', refs: [{ table: 'daily_sales_none' }] });
  expect((await refusal(scene.semantics.service.record(scene.team.author, 'lite', unresolved))).code).toBe(
    'semantics.ref_unresolved',
  );
});
