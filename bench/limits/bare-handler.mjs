/**
 * What the machine allows for a request that is recorded: bare Fastify with `pg` and nothing else.
 * `POST /run` commits one INSERT and one UPDATE; `GET /rows` reads ten rows, commits two INSERTs and one UPDATE.
 * Argument: the database's URL. Prints its port.
 */
import { randomUUID } from 'node:crypto';
import fastify from 'fastify';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 });
await pool.query(
  'CREATE TABLE IF NOT EXISTS runs (id uuid PRIMARY KEY, status text NOT NULL, parameters jsonb, started_at timestamptz NOT NULL DEFAULT now(), completed_at timestamptz)',
);
await pool.query(
  'CREATE TABLE IF NOT EXISTS served (id uuid PRIMARY KEY, path text NOT NULL, at timestamptz NOT NULL DEFAULT now())',
);

const begin = (id) =>
  pool.query({
    name: 'begin',
    text: `INSERT INTO runs (id, status, parameters) VALUES ($1, 'RUNNING', $2)`,
    values: [id, '{}'],
  });
const finish = (id) =>
  pool.query({
    name: 'finish',
    text: `UPDATE runs SET status = 'SUCCESS', completed_at = now() WHERE id = $1 AND status = 'RUNNING'`,
    values: [id],
  });
const note = (id) =>
  pool.query({ name: 'note', text: 'INSERT INTO served (id, path) VALUES ($1, $2)', values: [id, '/rows'] });
const tenRows = () =>
  pool.query({
    name: 'rows',
    rowMode: 'array',
    text: 'SELECT id, big, ratio, amount, label, moment, day, flag FROM bench_rows WHERE id BETWEEN $1 AND $1 + 9 ORDER BY id',
    values: [1],
  });

const app = fastify();
app.post('/run', async () => {
  const id = randomUUID();
  await begin(id);
  await finish(id);
  return { id, status: 'SUCCESS' };
});
app.get('/rows', async () => {
  const id = randomUUID();
  await note(id);
  await begin(id);
  const { rows } = await tenRows();
  await finish(id);
  return { rows };
});
const address = await app.listen({ port: 0, host: '127.0.0.1' });
console.log(new URL(address).port);
