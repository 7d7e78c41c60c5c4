/**
 * What the machine allows for a page of ten pipelines: bare Express and Apollo Server in front of the product's own SQL,
 * with its loaders' four statements for a page and nothing else. Arguments: the database's URL, a workspace, a person,
 * the four statements as a JSON object. Prints its port.
 */
import { ApolloServer } from '@apollo/server';
import { expressMiddleware } from '@as-integrations/express5';
import DataLoader from 'dataloader';
import express from 'express';
import pg from 'pg';

const [databaseUrl, workspaceId, userId, statements] = process.argv.slice(2);
const sql = JSON.parse(statements);
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
const rowsOf = async (name, values) => (await pool.query({ name, text: sql[name], values })).rows;

const typeDefs = `
  type Actor { id: ID! displayName: String! email: String }
  type PipelineVersion { number: Int! status: String! }
  type Pipeline { id: ID! name: String! owner: Actor! current: PipelineVersion }
  type PipelineConnection { nodes: [Pipeline!]! }
  type Query { pipelines(first: Int!): PipelineConnection! }`;

const loaders = () => ({
  people: new DataLoader(async (ids) => {
    const [people, shared] = await Promise.all([rowsOf('actors', [ids]), rowsOf('addresses', [userId, ids])]);
    const seen = new Set([userId, ...shared.map(({ id }) => id)]);
    const byId = new Map(people.map((person) => [person.id, person]));
    return ids.map((id) => ({ ...byId.get(id), ...(seen.has(id) ? {} : { email: null }) }));
  }),
  versions: new DataLoader(
    async (refs) => {
      const found = await rowsOf('versions', [
        workspaceId,
        refs.map(({ id }) => id),
        refs.map(({ currentVersion }) => currentVersion),
      ]);
      const byId = new Map(found.map((row) => [row.pipelineId, row]));
      return refs.map(({ id }) => byId.get(id));
    },
    { cacheKeyFn: ({ id, currentVersion }) => `${id}@${currentVersion}` },
  ),
});

const resolvers = {
  Query: {
    pipelines: async (_root, { first }) => ({
      nodes: (await rowsOf('page', [workspaceId, first + 1])).slice(0, first),
    }),
  },
  Pipeline: {
    owner: ({ owner }, _args, { people }) => people.load(owner),
    current: (pipeline, _args, { versions }) => versions.load(pipeline),
  },
  PipelineVersion: { number: ({ version }) => version },
};

const apollo = new ApolloServer({ typeDefs, resolvers, stopOnTerminationSignals: false });
await apollo.start();
const app = express();
app.use('/graphql', express.json(), expressMiddleware(apollo, { context: async () => loaders() }));
const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port));
