import pg from 'pg';
import type { ApiClient } from '../../test/fixtures/api-client.js';
import { repeat } from '../load/repeat.js';
import type { Measurement } from '../measurement.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

const PIPELINES = 100_000;
const FOLDERS = 100;
const PREFIX = 'browse';
const PAGE = 50;

const QUERY = `query($prefix: String!) { pipelineTree(prefix: $prefix, first: ${PAGE}) {
  pipelines { edges { node { id name } } pageInfo { hasNextPage } } } }`;

export const browseLevel: BenchPath = {
  name: 'browse-100k',
  about: 'one folder level of 100,000 pipelines, half of them in it and half in 100 folders below it, 50 a page',
  async measure({ author, metadataUrl }, options) {
    // Creating each over HTTP would take a quarter of an hour; what is measured only reads.
    await run(metadataUrl, FILL);
    try {
      const timed = (work: () => Promise<unknown>): Promise<number> =>
        repeat(options.runs * 5, () => elapsed(work)).then(median);
      const bare = await timed(() => page(author));
      const counted = await timed(() => level(author));
      const row = (path: string, value: number, good: number): Measurement => {
        return { path, unit: 'ms', better: 'lower', value, asked: { of: 'value', good, great: good / 2 } };
      };
      return [
        row('one folder level of 100,000 pipelines, without counts, p50', bare, 20),
        row('the same with subtree counts and the total, p50', counted, 80),
      ];
    } finally {
      await run(metadataUrl, `DELETE FROM pipelines WHERE name LIKE '${PREFIX}/%'`);
    }
  },
};

/** A released version each, with an empty body: no listing reads bodies. */
const FILL = `
  WITH owner AS (
    SELECT m.user_id, m.workspace_id FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id
     WHERE w.name = 'default' LIMIT 1),
  made AS (
    INSERT INTO pipelines (workspace_id, name, display_name, owner_id, current_version)
    SELECT workspace_id,
           '${PREFIX}/' || CASE WHEN i % 2 = 0 THEN '' ELSE 'f' || (i / 2 % ${FOLDERS}) || '/' END || 'p' || i,
           'P' || i, user_id, 1
      FROM owner, generate_series(1, ${PIPELINES}) i
    RETURNING id, owner_id)
  INSERT INTO pipeline_versions (pipeline_id, version, body_json, status, body_hash, released_at, released_by, created_by)
  SELECT id, 1, '{}', 'RELEASED', md5(id::text), NOW(), owner_id, owner_id FROM made;
  VACUUM ANALYZE pipelines;
  VACUUM ANALYZE pipeline_versions`;

/** The page alone, as a console that opens a folder asks for it. */
async function page(author: ApiClient): Promise<void> {
  const answer = await author.call('POST', '/graphql', { query: QUERY, variables: { prefix: PREFIX } });
  const { edges } = answer.body.data?.pipelineTree.pipelines ?? { edges: [] };
  if (edges.length !== PAGE) throw new TypeError(`the level is refused: ${answer.text.slice(0, 2000)}`);
}

/** The level over REST: page, total, and each folder with what its subtree holds. */
async function level(author: ApiClient): Promise<void> {
  const answer = await author.call('GET', `/api/v1/pipelines?prefix=${PREFIX}&limit=${PAGE}`);
  const { folders } = answer.body.data ?? {};
  if (folders?.length !== FOLDERS) throw new TypeError(`the level is refused: ${answer.text.slice(0, 2000)}`);
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // One statement at a time: VACUUM refuses a transaction, which several at once would be.
    for (const statement of sql.split(';')) await client.query(statement);
  } finally {
    await client.end();
  }
}
