import { setTimeout as wait } from 'node:timers/promises';
import { join } from 'node:path';

import { beforeEach, describe, expect, it, jest } from '@jest/globals';

import { lakeScene, refusal, type LakeBench } from '../lake.fixture.js';

const scene = lakeScene();
const root = (...parts: string[]): string => join(scene.folder, 'roots', ...parts);

beforeEach(async () => {
  await scene.make(...['a', 'b', 'c', 'd'].map((name) => `COPY (SELECT '${name}' AS x) TO '${root(`${name}.parquet`)}'`));
  await scene.registered('lake');
}); // prettier-ignore

const imported = (bench: LakeBench, ...names: string[]) =>
  bench.imports.import(scene.team.author, 'lake', {
    namespace: 'shop',
    publish_prefix: `file://${root()}`,
    tables: names.map((name) => ({ name, format: 'parquet', path: `${name}.parquet` })),
  });
const stored = async () => (await scene.bench.tables.list(scene.team.viewer, 'lake')).tables.map(({ name }) => name);
const announced = async () =>
  (await scene.team.audit()).filter(([event, details]) => event === 'datasource.updated' && JSON.stringify(details).includes('lake_tables')).length; // prettier-ignore

/** Everybody has read their tables before the first is stored, and nobody stores all of theirs in one go. */
function neckAndNeck(benches: readonly LakeBench[]): void {
  const start = Promise.withResolvers<undefined>();
  let ready = 0;
  for (const { repository } of benches) {
    const insert = repository.insert.bind(repository);
    let first = true;
    jest.spyOn(repository, 'insert').mockImplementation(async (...row) => {
      if (first) {
        first = false;
        if (++ready === benches.length) start.resolve(undefined);
        await start.promise;
      } else await wait(100);
      return await insert(...row);
    });
  }
}

describe('two imports at once, on two servers', () => {
  it.each([
    ['one name', ['a', 'b'], ['b', 'c'], 'b'],
    ['the same names the other way round', ['a', 'b'], ['b', 'a'], 'a'],
    ['all but their ends, each with its own before the shared ones', ['d', 'b', 'a'], ['c', 'a', 'b'], 'a'],
  ])('that share %s: one is stored whole, the other is told which name is taken and leaves nothing', async (_what, left, right, shared) => {
    const lists = [left, right];
    const benches = [scene.bench, await scene.another()];
    neckAndNeck(benches);
    const both = await Promise.allSettled(benches.map((bench, at) => imported(bench, ...lists[at]!)));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const winner = both.findIndex(({ status }) => status === 'fulfilled');
    const [won, lost] = [both[winner]!, both[1 - winner]!];
    const view = (won as PromiseFulfilledResult<Awaited<ReturnType<typeof imported>>>).value;
    // As they were listed, in whatever order they are stored.
    expect(view.registered.map(({ name }) => name)).toEqual(lists[winner]);
    const { code, details } = await refusal(Promise.reject((lost as PromiseRejectedResult).reason as Error));
    expect([code, details]).toEqual(['datasource.lake_table_duplicate', { datasource: 'lake', namespace: ['shop'], table: shared }]);
    expect([await stored(), await announced()]).toEqual([[...lists[winner]!].sort(), 1]);
    for (const bench of benches)
      expect(await bench.read('lake', `SELECT x FROM shop.${shared}`)).toEqual([[shared]]);
    jest.restoreAllMocks();
    // Asked again, the other has what is left of its list.
    const again = await imported(benches[1 - winner]!, ...lists[1 - winner]!);
    expect(again.registered_count + again.already_registered_count).toBe(lists[1 - winner]!.length);
    expect(await stored()).toEqual([...new Set([...left, ...right])].sort());
  }); // prettier-ignore
});
