import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { oneNodePipeline } from '../fixtures/authoring.js';
import type { ApiClient } from '../fixtures/api-client.js';
import { Deployment } from '../fixtures/deployment.js';
import { describeWithProgram } from '../fixtures/programs.js';

/** A list, how a row of it is told from others, and how one more is made whose name begins so. */
interface List {
  path: string;
  keyOf: (row: Record<string, string>) => string;
  add: (name: string) => Promise<unknown>;
  /** Where the rows of the page stand; `items` unless a level of a tree is read. */
  rows?: string;
}

describeWithProgram('redis-server', 'lists that are read on', (redis) => {
  let deployment: Deployment;
  let admin: ApiClient;
  let published: string;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis });
    admin = deployment.admin;
    for (const name of ['ws-1', 'ws-2']) await admin.data('POST', '/api/v1/workspaces', { name, display_name: name });
    published = await oneNodePipeline(admin, {
      name: 'list/one',
      source: 'tempdb',
      dialect: 'DUCKDB',
      sql: 'SELECT 1 AS n',
    });
  }, 90_000);
  afterAll(() => deployment?.stop());

  const template = (id: string) =>
    admin.data('POST', '/api/v1/templates', {
      id,
      display_name: id,
      description: '',
      dialect: 'DUCKDB',
      body: 'SELECT 1',
    });
  const pipeline = (name: string) =>
    admin.data('POST', '/api/v1/pipelines', {
      name,
      display_name: name,
      description: '',
      parameters: {},
      nodes: [
        {
          id: 'n',
          type: 'DQL',
          source: 'tempdb',
          template: { id: 'list/one.sql', version: 1 },
          output: { target: 'caller' },
        },
      ],
    });

  const LISTS: Record<string, () => List> = {
    pipelines: () => ({
      path: '/api/v1/pipelines?q=listed',
      keyOf: ({ id }) => id!,
      add: (n) => pipeline(`list/listed-${n}`),
    }),
    'a level of the pipeline tree': () => ({
      path: '/api/v1/pipelines?prefix=list',
      keyOf: ({ id }) => id!,
      add: (n) => pipeline(`list/level-${n}`),
      rows: 'pipelines',
    }),
    templates: () => ({
      path: '/api/v1/templates?type=sql&q=listed',
      keyOf: ({ id }) => id!,
      add: (n) => template(`list/listed-${n}`),
    }),
    'a level of the template tree': () => ({
      path: '/api/v1/templates?prefix=list',
      keyOf: ({ id }) => id!,
      add: (n) => template(`list/level-${n}`),
      rows: 'templates',
    }),
    datasources: () => ({
      path: '/api/v1/datasources?dialect=POSTGRES',
      keyOf: ({ name }) => name!,
      add: (n) =>
        admin.data('POST', '/api/v1/datasources', {
          name: `ds-${n}`,
          display_name: n,
          dialect: 'POSTGRES',
          jdbc_url: 'jdbc:postgresql://db.example.com/x',
          credential: { kind: 'password', username: 'u', secret: 'never-shown' },
        }),
    }),
    executions: () => ({
      path: `/api/v1/executions?pipeline_id=${published}`,
      keyOf: ({ execution_id }) => execution_id!,
      add: () =>
        admin.call('POST', `/api/v1/pipelines/${published}/execute`, {}, { headers: { Prefer: 'respond-async' } }),
    }),
    endpoints: () => ({
      path: '/api/v1/endpoints?',
      keyOf: ({ path }) => path!,
      add: (n) => admin.data('POST', '/api/v1/endpoints', { path: `/listed/${n}`, pipeline: published }),
    }),
    'API keys': () => ({
      path: '/api/v1/auth/api-keys?',
      keyOf: ({ id }) => id!,
      add: (n) => admin.data('POST', '/api/v1/auth/api-keys', { name: n }),
    }),
    users: () => ({
      path: '/api/v1/auth/users?q=listed',
      keyOf: ({ id }) => id!,
      add: (n) =>
        admin.data('POST', '/api/v1/auth/users', { email: `${n}@listed.example.org`, display_name: `Person ${n}` }),
    }),
    workspaces: () => ({
      path: '/api/v1/workspaces?',
      keyOf: ({ name }) => name!,
      add: (n) => admin.data('POST', '/api/v1/workspaces', { name: `ws-${n}`, display_name: n }),
    }),
    'mail sends': () => ({
      path: '/api/v1/mail-sends?',
      keyOf: ({ id }) => id!,
      add: () =>
        deployment.metadata(
          `INSERT INTO mail_sends (id, user_id, kind, act_id, recipient, claimed_at)
         SELECT $1::uuid, id, 'welcome', $1, email, date_trunc('minute', NOW()) FROM users LIMIT 1`,
          [randomUUID()],
        ),
    }),
    'the audit trail': () => ({
      path: '/api/v1/audit?instance=true&event=auth.workspace.',
      keyOf: ({ id }) => id!,
      add: (n) => admin.data('POST', '/api/v1/workspaces', { name: `audited-${n}`, display_name: n }),
    }),
  };

  /** First in the order of names, in its middle, and last. */
  const NAMES = ['0', 'm', 'zz'];

  describe.each(Object.keys(LISTS))('the list of %s', (name) => {
    it('is walked by cursor to its end while rows are added: none of those that stood there is lost, none comes twice', async () => {
      const { path, keyOf, add, rows = 'items' } = LISTS[name]!();
      for (const n of ['b', 'd', 'f', 'h', 'k']) await add(n);
      const page = async (query: string) => {
        const answer = await admin.data('GET', `${path}&${query}`);
        const { total, has_more, next_cursor, ...more } = rows === 'items' ? answer.pagination : answer;
        return {
          keys: (answer[rows] as Record<string, string>[]).map(keyOf),
          total: Number(total),
          has_more,
          next_cursor,
          more,
        };
      };
      const standing = await page('limit=200');
      expect([standing.has_more, standing.next_cursor, standing.total]).toEqual([false, null, standing.keys.length]);
      const walked: string[] = [];
      let cursor: string | null = null;
      for (let step = 0; ; step++) {
        const { keys, has_more, next_cursor, more } = await page(`limit=2${cursor === null ? '' : `&after=${cursor}`}`);
        expect(keys.length).toBeLessThanOrEqual(2);
        expect(has_more).toBe(next_cursor !== null);
        if (cursor !== null) expect(more).not.toHaveProperty('offset');
        walked.push(...keys);
        if (next_cursor === null) break;
        cursor = next_cursor as string;
        if (step < NAMES.length) await add(`${NAMES[step]}${step}`);
      }
      expect(new Set(walked).size).toBe(walked.length);
      expect(walked.filter((key) => standing.keys.includes(key))).toEqual(standing.keys);

      const byPosition = await page('offset=1&limit=2');
      expect(byPosition.keys).toEqual((await page('limit=200')).keys.slice(1, 3));
      expect((await page(`limit=2&after=${byPosition.next_cursor as string}`)).keys).toEqual(
        (await page('limit=200')).keys.slice(3, 5),
      );
    }, 30_000);

    it('refuses a broken cursor, one of another list or filter, and one together with a position', async () => {
      const { path } = LISTS[name]!();
      const foreignPath = name === 'workspaces' ? '/api/v1/audit?' : '/api/v1/workspaces?';
      const foreign = await admin.data('GET', `${foreignPath}&limit=1`);
      const cursor = foreign.pagination.next_cursor as string;
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
      for (const after of ['', 'x', 'W10', '%22', 'a'.repeat(3000), cursor]) {
        const refused = await admin.call('GET', `${path}&after=${after}`);
        expect([after.length, refused.status, refused.body.error.code]).toEqual([
          after.length,
          400,
          'graphql.cursor_invalid',
        ]);
      }
      const both = await admin.call('GET', `${path}&offset=0&after=${cursor}`);
      expect([both.status, both.body.error.details.field]).toEqual([400, 'offset']);
      const twice = await admin.call('GET', `${path}&after=${cursor}&after=${cursor}`);
      expect([twice.status, twice.body.error.details.reason]).toEqual([400, 'repeated']);
    });
  });

  it('refuses a cursor of the same list under another filter: it would point to a wrong place', async () => {
    const { pagination } = await admin.data('GET', '/api/v1/templates?limit=1');
    const refused = await admin.call('GET', `/api/v1/templates?q=list&after=${pagination.next_cursor as string}`);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'graphql.cursor_invalid']);
    const taken = await admin.call('GET', `/api/v1/templates?limit=2&after=${pagination.next_cursor as string}`);
    expect(taken.status).toBe(200);
  });
});
