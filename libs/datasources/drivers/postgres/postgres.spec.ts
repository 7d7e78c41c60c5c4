import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { createEmptyDatabase, type EmptyDatabase } from '../../../../test/fixtures/postgres.js';
import { openPostgres } from './open.js';
import { TypeNames } from './type-names.js';
import { postgresOptions } from './options.js';
import { parsePostgresUrl } from './url.js';

describe('spike', () => {
  let db: EmptyDatabase;
  beforeAll(async () => { db = await createEmptyDatabase(); });
  afterAll(async () => { await db.drop(); });
  it('reads', async () => {
    const url = new URL(db.url);
    const options = postgresOptions(parsePostgresUrl(`//${url.hostname}:${url.port}${url.pathname}`), new Map());
    const signal = new AbortController().signal;
    const c = await openPostgres(options, { username: url.username, secret: decodeURIComponent(url.password), access: 'read' }, new TypeNames(), (host) => Promise.resolve({ address: host }), signal);
    const t0 = Date.now();
    const cur = await c.openCursor({ sql: `select i::int4 a, i::int8 b, i::float8/3 c, (i*1.01)::numeric(12,2) d, 'text '||i e, now()+i*interval '1s' f, current_date+i%1000 g, i%2=0 h from generate_series(1,1000000) i`, values: [] }, { fetchSize: 1000, signal });
    let n = 0; let batches = 0;
    for (;;) { const b = await cur.next(signal); if (!b) break; n += b.rowCount; batches++; if (batches===2) console.log(cur.columns, b.vectors.map(v=>v.data![0])); }
    console.log(n, batches, Date.now()-t0);
    expect(n).toBe(1000000);
    console.log(await c.reset());
    await c.close();
  });
});
