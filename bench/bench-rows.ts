import pg from 'pg';

export const COLUMNS = 'id, big, ratio, amount, label, moment, day, flag';

/** Table `bench_rows` with at least `rows` rows of eight mixed columns, hot in the server's cache. */
export async function benchRows(databaseUrl: string, rows: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `CREATE TABLE IF NOT EXISTS bench_rows (id int4, big int8, ratio float8, amount numeric(12,2), label text,
                                              moment timestamptz, day date, flag bool)`,
    );
    await client.query(
      `INSERT INTO bench_rows
       SELECT i, i::int8 * 4294967311, sqrt(i), (i % 100000000)::numeric / 100, 'label of row ' || i,
              timestamptz '2020-01-01 00:00:00Z' + i * interval '1.234567 s', date '2000-01-01' + i % 9000, i % 3 = 0
         FROM generate_series((SELECT coalesce(max(id), 0) + 1 FROM bench_rows), $1::int) i`,
      [rows],
    );
    await client.query('CREATE INDEX IF NOT EXISTS bench_rows_id ON bench_rows (id)');
    await client.query('VACUUM (ANALYZE) bench_rows');
  } finally {
    await client.end();
  }
}
