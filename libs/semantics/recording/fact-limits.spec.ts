import { describe, expect, it } from '@jest/globals';

import { Configuration } from '#libs/kernel';

import { factBody, refusal, SemanticsBench, semanticsScene } from '../semantics.fixture.js';

const KINDS = ['unit', 'grain', 'caveat', 'format', 'window', 'sampling'];

describe('how many facts a workspace may keep about a datasource', () => {
  const scene = semanticsScene();
  /** A process whose operator allows that many. */
  const limitedTo = (most: number): SemanticsBench['service'] => {
    const limits = new Map([['datapipelines.semantics.max-live-facts-per-datasource' as const, most]]);
    return new SemanticsBench(scene.bench, scene.db.database, undefined, new Configuration('external', limits, []))
      .service;
  };
  const body = (at: number, more = {}) => factBody({ fact: `order number ${at} is odd`, kind: KINDS[at % 6], ...more });

  it('is held exactly by eight that come at once, of different kinds, on two servers', async () => {
    const servers = [limitedTo(3), limitedTo(3)];
    const answers = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) => servers[at % 2]!.record(scene.team.author, 'pg', body(at))),
    );
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
    expect([await scene.stored(), refused.length]).toEqual([3, 5]);
    for (const reason of refused)
      expect(reason).toMatchObject({ code: 'semantics.too_many_facts', details: { datasource: 'pg', limit: 3 } });
    expect((await scene.audited()).length).toBe(3);
  });

  it('counts live ones of that workspace and that datasource, and leaves a way to go on', async () => {
    const service = limitedTo(2);
    const [first] = [await service.record(scene.team.author, 'pg', body(1)), await service.record(scene.team.author, 'pg', body(2))]; // prettier-ignore
    expect((await refusal(service.record(scene.team.author, 'pg', body(3)))).code).toBe('semantics.too_many_facts');
    // A duplicate is told as what it is, so that nobody retires a fact for nothing.
    expect((await refusal(service.record(scene.team.author, 'pg', body(2)))).code).toBe('semantics.duplicate');
    await service.record(scene.team.author, 'lite', body(3));
    await scene.bench.service.grant(scene.team.root, 'pg', 'others');
    await service.record(scene.others.author, 'pg', body(4));
    await service.record(scene.team.author, 'pg', body(5, { supersedes: first.id }));
    expect((await refusal(service.record(scene.team.author, 'pg', body(6)))).code).toBe('semantics.too_many_facts');
    const { facts } = await service.list(scene.team.author, 'pg');
    await service.retire(scene.team.author, facts[0]!.id, { reason: 'room for another' });
    await service.record(scene.team.author, 'pg', body(7));
  });

  it('a refusal for the number leaves the fact that was to be superseded as it was', async () => {
    await scene.bench.service.grant(scene.team.root, 'pg', 'others');
    const theirs = await scene.semantics.service.record(scene.others.author, 'pg', body(1));
    const service = limitedTo(1);
    await service.record(scene.team.admin, 'pg', body(2));
    const refused = refusal(service.record(scene.team.admin, 'pg', body(3, { supersedes: theirs.id })));
    expect((await refused).code).toBe('semantics.too_many_facts');
    const { facts } = await service.list(scene.others.author, 'pg');
    expect(facts.find(({ id }) => id === theirs.id)?.trust).toBe('asserted');
  });
});
