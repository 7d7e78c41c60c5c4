import { expect, it } from '@jest/globals';
import { DatabaseSync } from 'node:sqlite';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { SqliteConnection } from './sqlite/connection.js';
import { DuckdbInstances } from './duckdb/instances.js';
import { DuckdbConnection } from './duckdb/connection.js';

const signal = new AbortController().signal;
const dir = mkdtempSync(tmpdir() + '/spike-');
it('sqlite', async () => {
  const file = dir + '/a.db';
  const db = new DatabaseSync(file); db.exec(`create table t(a integer, b bigint, c text, d real, e blob, f)`); db.exec(`insert into t values (1, 9223372036854775807, 'x', 1.5, x'0102', 5), (null,null,null,null,null,null)`); db.close();
  const c = await SqliteConnection.open({ file, access: 'read', busyTimeoutMs: 1000, recover: true }, signal);
  const cur = await c.openCursor({ sql: 'select *, count(*) over () n from t', values: [] }, { fetchSize: 1000, signal });
  console.log(cur.columns, (await cur.next(signal))!.vectors.map(v => v.data), await cur.next(signal));
  const t0 = Date.now();
  const cur2 = await c.openCursor({ sql: "with recursive r(i) as (select 1 union all select i+1 from r where i<200000) select i, i*2, 'text '||i from r", values: [] }, { fetchSize: 1000, signal });
  let n = 0; for (;;) { const b = await cur2.next(signal); if (!b) break; n += b.rowCount; }
  console.log(n, Date.now() - t0);
  await c.close();
});
it('duckdb', async () => {
  const inst = new DuckdbInstances({ memoryMb: 512, threads: 2, temporaryDirectory: dir });
  const share = await inst.share('x', dir + '/d.duckdb', false);
  const c = new DuckdbConnection(await share.instance.connect(), 'write', { run: (call) => call() }, () => share.release());
  await c.execute({ sql: 'create table t as select i a, i*1.25 b, \'t\'||i c, [i,2] d, now() e from range(200000) t(i)', values: [] }, { signal });
  const t0 = Date.now();
  const cur = await c.openCursor({ sql: 'select * from t order by a;', values: [] }, { fetchSize: 1000, signal });
  let n = 0; let first = true; for (;;) { const b = await cur.next(signal); if (!b) break; n += b.rowCount; if (first) { first = false; console.log(cur.columns, b.vectors.map(v => v.data![1])); } }
  console.log(n, Date.now() - t0);
  await c.close();
});
