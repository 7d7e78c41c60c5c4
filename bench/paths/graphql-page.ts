import type { Database } from '#libs/persistence';
import { PipelineBrowseRepository } from '../../libs/pipelines/pipeline-browse.repository.js';
import { PipelineRepository } from '../../libs/pipelines/pipeline.repository.js';
import { ProfileRepository } from '../../libs/identity/users/profile.repository.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import { startLimit } from '../limits/start-limit.js';
import { besideLimit } from '../load/beside-limit.js';
import type { Exchange } from '../load/keep-alive-client.js';
import type { BenchPath } from './bench-path.js';

const CLIENTS = 16;
const PIPELINES = 30;
const QUERY = '{ pipelines(first: 10) { nodes { id name owner { id displayName } current { number status } } } }';

export const graphqlPage: BenchPath = {
  name: 'graphql-page',
  about:
    'a GraphQL page of 10 pipelines with owner and current version, against the same SQL behind bare Express + Apollo',
  async measure({ author, keys, server, metadataUrl }, options) {
    await releasedTemplate(author, 'bench/graphql/one.sql', 'POSTGRES', 'SELECT 1 AS one');
    const template = { id: 'bench/graphql/one.sql', version: 1 };
    for (let made = 0; made < PIPELINES; made += 1) {
      await releasedPipeline(author, `bench/graphql/run${made}`, [
        { id: 'read', type: 'DQL', source: SOURCE, template, output: { target: 'caller' } },
      ]);
    }
    const viewer = { query: '{ viewer { user { id } activeWorkspace { id } } }' };
    const { user, activeWorkspace } = (await author.data('POST', '/graphql', viewer)).viewer as {
      user: { id: string };
      activeWorkspace: { id: string };
    };
    const limit = await startLimit('bare-graphql.mjs', [
      metadataUrl,
      activeWorkspace.id,
      user.id,
      JSON.stringify(await statements()),
    ]);
    const call: Exchange = {
      method: 'POST',
      path: '/graphql',
      headers: { 'DP-API-Key': keys[0]!, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: QUERY }),
    };
    try {
      const measured = await besideLimit(
        {
          clients: CLIENTS,
          product: { baseUrl: server.baseUrl, call },
          limit: { baseUrl: limit.baseUrl, call },
          compare: refuseOtherAnswers,
        },
        options,
      );
      const { perSecond, p50, p99 } = measured.product;
      return [
        {
          path: `GraphQL page of 10 pipelines with owner and current version, ${CLIENTS} clients`,
          unit: 'pages/s',
          better: 'higher',
          value: perSecond,
          limit: { what: 'bare Express + Apollo, same SQL', value: measured.limit.perSecond },
          asked: { of: 'ratio', good: 0.7, great: 0.9 },
          note: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
        },
      ];
    } finally {
      await limit.stop();
    }
  },
};

/** The statements the product sends for such a page, as its repositories write them. */
async function statements(): Promise<Record<'page' | 'actors' | 'addresses' | 'versions', string>> {
  const sent: string[] = [];
  const recorder = { query: (sql: string) => (sent.push(sql), Promise.resolve([])) } as unknown as Database;
  const id = '00000000-0000-4000-8000-000000000000';
  const profiles = new ProfileRepository();
  await new PipelineBrowseRepository(recorder).keyset(id, {}, { first: 10 });
  await profiles.actors(recorder, [id]);
  await profiles.administeredBy(recorder, id, [id]);
  await new PipelineRepository(recorder).versionsAmong(id, [{ pipelineId: id, version: 1 }], { withBody: false });
  const [page, actors, addresses, versions] = sent as [string, string, string, string];
  return { page, actors, addresses, versions };
}

/** Both must have done the same work. */
function refuseOtherAnswers(product: string, bare: string): void {
  const pageOf = (text: string): string => JSON.stringify((JSON.parse(text) as { data: unknown }).data);
  if (pageOf(product) !== pageOf(bare))
    throw new TypeError(`The limit answers ${bare.slice(0, 500)}, the product ${product.slice(0, 500)}.`);
}
