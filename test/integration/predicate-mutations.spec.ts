import { globSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bareSchema } from '../../apps/server/graphql/schema/render-schema.js';
import { MutationScene } from '../fixtures/mutation-scene.js';
import { FURTHER_ACTS } from '../fixtures/predicate-acts.js';
import { PredicateHunt } from '../fixtures/predicate-hunt.js';
import { deepProbes, doorProbes } from '../fixtures/predicate-probes.js';
import { sitesOf, type Site } from '../fixtures/predicate-sites.js';

/*
 * Every predicate by which a statement of the product is held to one workspace or one person is taken out of the running
 * server, and a request must notice. What no request can notice stands here with its reason.
 */

const EXCEPTED: [part: string, reason: string][] = [
  ['AND TRUE ORDER BY timestamp DESC, id DESC', 'looks whether the list has more; what it shows is read by the statement before'],
  ['WHERE f.id = ANY ($2::uuid[]) AND (f.scope', 'facts by id, which were found visible by the statement before'],
  ['endpoint_key_bindings b ON b.api_key_id = k.id AND b.workspace_id = k.workspace_id', 'a key binds in its own workspace alone: the row is the same without'],
  ['FROM endpoint_key_bindings b JOIN api_keys k ON k.id = b.api_key_id WHERE b.workspace_id = $1 AND b.path_prefix = $2', 'shows the binding that was just made; path and key are its primary key'],
  ['AS granted FROM datasources d LEFT JOIN workspaces w ON w.id = d.owner_workspace_id WHERE NOT d.is_deleted AND d.name = $2', 'a column that tells whether the one row is granted; where it decides, it stands in the WHERE as well'],
  ['AND ($3::text IS NULL OR d.name > $3) ORDER BY d.name ASC', 'the same column, of rows that the WHERE has already held to the grant'],
  [`FALSE AS conflicting FROM learned_facts f LEFT JOIN pipelines p ON p.id = f.source_pipeline_id AND p.workspace_id = $1::uuid WHERE f.datasource_name = ANY`, 'notes beside a catalog, which do not say where they were learned'],
  ['FROM learned_facts f WHERE f.datasource_name = $2 AND f.trust', 'notes beside the tables of a source that was found granted before, and read once more by id'],
  ['FALSE AS conflicting FROM learned_facts f LEFT JOIN pipelines p ON p.id = f.source_pipeline_id AND p.workspace_id = $1::uuid WHERE f.id = ANY', 'the same notes, read by id; each of the two holds for the other'],
  ['FROM password_reset_tokens WHERE user_id = $1 AND created_at > NOW()', 'counted where mail is on; held by libs/identity/reset/password-reset.spec.ts'],
  ['SELECT recipient FROM mail_sends WHERE user_id = $1 AND kind', 'whose addresses are masked in what servers said; held by libs/identity/administration/user-erasure.spec.ts'],
  ['WHERE p.workspace_id = $1 AND e.parent_execution_id = ANY($2::uuid[]) AND TRUE) x WHERE x.place', 'children run in the workspace of their parents, which were found visible before'],
  ['AS total FROM pipeline_executions e JOIN pipelines p ON p.id = e.pipeline_id WHERE p.workspace_id = $1 AND e.parent_execution_id = ANY', 'children run in the workspace of their parents, which were found visible before'],
  ['p.workspace_id = w.workspace_id', 'asked at the beat of an open stream, of many streams at once; held by libs/executions/reading.spec.ts'],
  ['WHERE m.user_id = $1 AND NOT w.is_deleted ORDER BY w.id FOR NO KEY UPDATE OF w', 'holds workspaces for the statement after it, which reads what somebody leaves'],
  ['(k.name) k.id, k.name FROM api_keys k WHERE k.workspace_id = $1', 'asked where a promotion is received; held by test/e2e/promotion-receiver.spec.ts'],
  ['FROM pipeline_executions WHERE execution_id = $1 AND triggered_by = $2', 'the name of the reservation it is read from holds the person'],
]; // prettier-ignore

const NEARBY: [part: string, reason: string][] = [
  ['s.workspace_id = $1::uuid', 'a fact supersedes one of its kind about its source, which whoever sees it sees as well'],
  ['s.workspace_id = $1::uuid) AND EXISTS ( SELECT 1 FROM datasources d JOIN datasource_workspaces g ON g.datasource_name = d.name AND g.workspace_id = $1::uuid', 'the same, of its source'],
  ['p ON p.id = f.source_pipeline_id AND p.workspace_id = $1::uuid', 'told by facts one by one; notes beside a catalog do not say where they were learned'],
  ['g.workspace_id = p.workspace_id', 'the last look of a launch at grants that were judged just before it'],
]; // prettier-ignore

const flat = (sql: string): string => sql.replace(/\s+/g, ' ').trim();
/** A predicate is excepted by what stands in its statement, a nearer one by what stands right before it. */
const isExcepted = ({ sql, at, text }: Site): boolean =>
  EXCEPTED.some(([part]) => flat(sql).includes(part)) ||
  NEARBY.some(([part]) => flat(sql.slice(Math.max(0, at - 200), at + text.length)).endsWith(part));

let scene: MutationScene;
let hunt: PredicateHunt;

beforeAll(async () => {
  const schema = await bareSchema();
  scene = await MutationScene.start({
    DATAPIPELINES_RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
    DATAPIPELINES_RATE_LIMIT_REQUESTS_PER_MINUTE: '60000000',
    DATAPIPELINES_AUTH_SESSION_MAX_PER_USER: '3',
    DATAPIPELINES_PRIVACY_USER_ERASURE: 'anonymise',
    DATAPIPELINES_GRAPHQL_MAX_DEPTH: '100',
    DATAPIPELINES_GRAPHQL_MAX_COMPLEXITY: '1000000',
    DATAPIPELINES_GRAPHQL_MAX_TOKENS: '1000000',
    DATAPIPELINES_GRAPHQL_MAX_DOCUMENT_BYTES: '16777216',
  });
  // Mail is off here, and what it would leave behind is what an erasure has to find.
  for (const sql of [
    `INSERT INTO mail_sends (id, user_id, kind, act_id, recipient, error)
     SELECT gen_random_uuid(), u.id, 'welcome', u.id, u.email,
            (SELECT 'not beside ' || string_agg(o.email, ', ' ORDER BY o.email) FROM users o WHERE o.id <> u.id)
       FROM users u WHERE u.email LIKE '%@example.org'`,
    `INSERT INTO password_reset_tokens (id, user_id, token_hash, expires_at, requested_ip)
     SELECT gen_random_uuid(), id, sha256(email::bytea), NOW() + INTERVAL '1 hour', '192.0.2.1' FROM users`,
  ]) {
    await scene.server.test.database.execute(sql);
  }
  hunt = new PredicateHunt(scene, isExcepted);
  await hunt.run([...FURTHER_ACTS, ...deepProbes(schema)], doorProbes(schema));
}, 300_000);
afterAll(() => scene?.stop());

describe('a predicate of a workspace or a person', () => {
  it('is not hunted by requests that go wrong anyway', () => {
    expect(hunt.hollow).toEqual([]);
  });

  it('shows when it is dropped, in every statement that the doors cause', () => {
    const unnoticed = hunt.sites.filter((site) => !hunt.isProven(site) && !isExcepted(site));
    expect(unnoticed.map(({ text, sql, at }) => `${text} @${at} in ${flat(sql)}`)).toEqual([]);
  });

  it('is asked for by some request, wherever it stands in the code', () => {
    const asked = hunt.sites.map(({ sql }) => flat(sql));
    const unasked = predicatesOfTheCode().filter(
      ({ fragment }) =>
        !asked.some((sql) => sql.includes(fragment)) && !EXCEPTED.some(([part]) => fragment.includes(part)),
    );
    expect(unasked).toEqual([]);
  });
});

/** Each with the text around it, as far as it stands in the source as it will in the statement. */
function predicatesOfTheCode(): { place: string; fragment: string }[] {
  const files = globSync('{libs,apps}/**/*.ts').filter((file) => !/(spec|fixture)\.ts$/.test(file));
  return files.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    return sitesOf(text).map((site) => ({
      place: `${file}:${text.slice(0, site.at).split('\n').length}`,
      fragment: surrounded(text, site),
    }));
  });
}

function surrounded(text: string, { at, text: predicate }: Site): string {
  const before =
    text
      .slice(Math.max(0, at - 60), at)
      .split(/[`'}]/)
      .at(-1) ?? '';
  const after = text.slice(at + predicate.length, at + predicate.length + 60).split(/[`'$]/)[0] ?? '';
  return flat(before + predicate + after);
}
