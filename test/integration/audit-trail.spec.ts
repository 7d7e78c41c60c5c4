import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AUDIT_EVENTS, type AuditEventName } from '#libs/audit';
import { ActScene, AUDITED_ACTS } from '../fixtures/audited-acts.js';
import { AUDIT_TABLE, keysFault } from '../fixtures/audit-table.js';
import { EVENTS_BEYOND_THE_SWEEP } from '../fixtures/events-beyond-the-sweep.js';
import { OBSERVED_REQUESTS } from '../fixtures/observed-requests.js';
import { REFUSED_ACTS } from '../fixtures/refused-acts.js';
import { Checksum } from '../fixtures/matrix-scene.js';

/** The others change a count or open a session: they are refused, each by a test of its own. */
const GOES_ON = (event: AuditEventName): boolean => !(event in REFUSED_ACTS) && event !== 'auth.password.seeded';

/** Needs a deployment where nobody writes: held by promotion-receiver.spec.ts. */
const ELSEWHERE = ['auth.promotion.accepted'];

let scene: ActScene;
let checksum: Checksum;
let superuser: pg.Client;

beforeAll(async () => {
  scene = await ActScene.start();
  checksum = await Checksum.open(scene.server.test.superuserUrl);
  superuser = new pg.Client({ connectionString: scene.server.test.superuserUrl });
  await superuser.connect();
}, 60_000);
afterAll(async () => {
  await superuser?.end();
  await checksum?.close();
  await scene?.stop();
});

interface Row {
  event: string;
  details: Record<string, unknown>;
}

async function rowsAfter(id: string): Promise<Row[]> {
  const { rows } = await superuser.query<Row>(
    'SELECT event, details_json AS details FROM audit_log WHERE id > $1 ORDER BY id',
    [id],
  );
  return rows;
}

async function lastRow(): Promise<string> {
  const { rows } = await superuser.query<{ id: string }>('SELECT coalesce(max(id), 0)::text AS id FROM audit_log');
  return rows[0]?.id ?? '0';
}

/** The trail takes no row of this event while `work` runs: as if its insert failed. */
async function withoutRowsOf<T>(event: string, work: () => Promise<T>): Promise<T> {
  await superuser.query(`ALTER TABLE audit_log ADD CONSTRAINT broken CHECK (event <> '${event}') NOT VALID`);
  try {
    return await work();
  } finally {
    await superuser.query('ALTER TABLE audit_log DROP CONSTRAINT broken');
  }
}

describe('the vocabulary', () => {
  it('is the same in the document and in the code', () => {
    const inCode = Object.entries(AUDIT_EVENTS).map(([event, keys]) => [event, [...keys].sort()]);
    const inDocument = [...AUDIT_TABLE].map(([event, keys]) => [event, [...keys.keys()].sort()]);
    expect(Object.fromEntries(inDocument)).toEqual(Object.fromEntries(inCode));
  });

  it('is proved event by event, here or beside the sweep', () => {
    const proved = [...AUDITED_ACTS, ...OBSERVED_REQUESTS].map(({ event }) => event as string);
    expect([...new Set([...proved, ...Object.keys(EVENTS_BEYOND_THE_SWEEP), ...ELSEWHERE])].sort()).toEqual(
      [...AUDIT_TABLE.keys()].sort(),
    );
  });
});

/** A served call's row is one commit with its execution's: without it there is no run (contract 02 §2, step 8). */
const NOT_RECORDED = 'pipeline.execution.aborted';

describe('no row, no act', () => {
  it.each(AUDITED_ACTS.map((act) => [act.event, act] as const))(
    '%s: refused without a trace while its row cannot be written, done with exactly its details once it can',
    async (event, { prepare }) => {
      const attempt = await prepare(scene);
      const before = await checksum.now();
      const refused = await withoutRowsOf(event, attempt);
      const code = event === 'endpoint.served' ? NOT_RECORDED : 'internal';
      expect([refused.status, refused.body?.error?.code]).toEqual([500, code]);
      expect(await checksum.now()).toBe(before);

      const mark = await lastRow();
      const done = await attempt();
      expect([done.status < 300, done.text]).toEqual([true, done.text]);
      const rows = await rowsAfter(mark);
      expect(rows.map((row) => row.event)).toContain(event);
      expect(rows.flatMap((row) => keysFault(row.event, row.details))).toEqual([]);
      expect(await checksum.now()).not.toBe(before);
    },
  );
});

describe('what changes nothing leaves a row too', () => {
  it.each(OBSERVED_REQUESTS.map((request) => [request.event, request] as const))('%s', async (event, { cause }) => {
    const mark = await lastRow();
    await cause(scene);
    expect((await rowsAfter(mark)).map((row) => row.event)).toContain(event);
  });

  it.each(OBSERVED_REQUESTS.filter(({ event }) => GOES_ON(event)).map((request) => [request.event, request] as const))(
    '%s: goes on without it, and the loss is told',
    async (event, { cause }) => {
      const { errors, warnings } = scene.server;
      const before = errors.length;
      warnings.length = 0;
      await withoutRowsOf(event, () => cause(scene));
      expect(errors.slice(before)).toEqual([]);
      const lost = warnings.filter(({ message }) => message === 'audit.row_not_written');
      expect(lost.map(({ fields }) => fields?.['event'])).toContain(event);
    },
  );

  it('every row of all these acts and requests holds the keys of its event, and no other', async () => {
    expect((await rowsAfter('0')).flatMap((row) => keysFault(row.event, row.details))).toEqual([]);
  });
});
