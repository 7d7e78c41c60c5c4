import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AUDIT_EVENTS, type AuditEventName } from '#libs/audit';
import { BootstrapAdmin } from '#libs/identity';
import { AUDITED_ACTS } from '../fixtures/audited-acts.js';
import { ConnectedScene, EVENTS_BEYOND_THE_SWEEP, REFUSED_ADDRESS } from '../fixtures/events-beyond-the-sweep.js';
import { eventually } from '../fixtures/eventually.js';
import { identityInstance } from '../fixtures/identity.js';
import { Checksum } from '../fixtures/matrix-scene.js';
import { OBSERVED_REQUESTS } from '../fixtures/observed-requests.js';
import { emailOf } from '../fixtures/people.js';
import { createTestDatabase } from '../fixtures/postgres.js';
import { REFUSED_ACTS } from '../fixtures/refused-acts.js';

/*
 * The trail takes no row of one event, as if its insert failed: an act is refused and leaves nothing behind, and what
 * changes nothing goes on, with a warning (contract 04 §10).
 */

/** Needs a deployment where nobody writes: held by promotion-receiver.spec.ts. */
const ELSEWHERE: AuditEventName[] = ['auth.promotion.accepted'];
/** Proved below by acts of their own. */
const APART: AuditEventName[] = ['auth.password.seeded', 'mail.sent', 'mail.failed'];

const swept = AUDITED_ACTS.map(({ event }) => event);
const refused = Object.keys(REFUSED_ACTS) as AuditEventName[];
const observed = Object.entries(EVENTS_BEYOND_THE_SWEEP).filter(
  ([event]) => !refused.includes(event as AuditEventName) && !APART.includes(event as AuditEventName),
);
/** Held by the sweep, whose scene they need. */
const observedThere = OBSERVED_REQUESTS.map(({ event }) => event).filter(
  (event) => !refused.includes(event) && !APART.includes(event),
);

let scene: ConnectedScene;
let superuser: pg.Client;

beforeAll(async () => {
  scene = await ConnectedScene.start();
  superuser = new pg.Client({ connectionString: scene.server.test.superuserUrl });
  await superuser.connect();
}, 60_000);
afterAll(async () => {
  await superuser?.end();
  await scene?.stop();
});

async function withoutRowsOf<T>(event: string, work: () => Promise<T>): Promise<T> {
  await superuser.query(`ALTER TABLE audit_log ADD CONSTRAINT broken CHECK (event <> '${event}') NOT VALID`);
  try {
    return await work();
  } finally {
    await superuser.query('ALTER TABLE audit_log DROP CONSTRAINT broken');
  }
}

describe('the vocabulary', () => {
  it('says of every event whether its act is refused with its row or goes on without it, and each is proved', () => {
    const acts = [...new Set([...swept, ...refused, ...APART])];
    const others = [...new Set([...observed.map(([event]) => event), ...observedThere])];
    expect(acts.filter((event) => others.includes(event))).toEqual([]);
    expect([...acts, ...others, ...ELSEWHERE].sort()).toEqual(Object.keys(AUDIT_EVENTS).sort());
  });
});

describe('no row, no act', () => {
  it.each(Object.entries(REFUSED_ACTS))('%s: nothing is changed while its row cannot be written', async (event, prepare) => {
    const attempt = await prepare(scene);
    const checksum = await Checksum.open(scene.server.test.superuserUrl);
    const before = await checksum.now();
    await withoutRowsOf(event, async () => {
      const told = scene.server.errors.length + scene.server.warnings.length;
      await attempt();
      // A reset is answered before it is made; what became of it is told in the log.
      await eventually('the failure is told', () => scene.server.errors.length + scene.server.warnings.length > told);
      expect(await checksum.now()).toBe(before);
    });
    await attempt();
    await eventually('the act is done', async () => (await checksum.now()) !== before);
    await checksum.close();
  }); // prettier-ignore

  it('auth.password.seeded: there is no first administrator whom the trail does not know', async () => {
    const db = await createTestDatabase();
    const options = { bootstrapAdminEmail: 'ops@example.com', bootstrapPassword: 'one sunny morning' };
    const instance = await identityInstance({ database: db.database, options });
    const client = new pg.Client({ connectionString: db.superuserUrl });
    await client.connect();
    await client.query("ALTER TABLE audit_log ADD CONSTRAINT broken CHECK (event <> 'auth.password.seeded') NOT VALID");
    await expect(instance.get(BootstrapAdmin).ensure()).rejects.toThrow();
    expect(await db.database.query("SELECT email FROM users WHERE provider <> 'system'")).toEqual([]);
    await client.query('ALTER TABLE audit_log DROP CONSTRAINT broken');
    expect(await instance.get(BootstrapAdmin).ensure()).toMatchObject({ created: true });
    await client.end();
    await instance.close();
    await db.drop();
  });

  it.each([
    ['mail.sent', emailOf('unsettled')],
    ['mail.failed', REFUSED_ADDRESS],
  ])('%s: what became of the message is not told without its row, and it is not sent again', async (event, email) => {
    const ledger = async () =>
      (await superuser.query('SELECT sent_at, error FROM mail_sends WHERE recipient = $1', [email])).rows;
    await withoutRowsOf(event, async () => {
      await scene.admin.data('POST', '/api/v1/auth/users', { email });
      await eventually('the outcome cannot be written', () =>
        scene.server.warnings.some(({ message }) => message === 'mail.outcome_not_recorded'),
      );
      expect(await ledger()).toEqual([{ sent_at: null, error: null }]);
    });
    const received = scene.mail.received.filter(({ to }) => JSON.stringify(to).includes(email));
    expect(received).toHaveLength(event === 'mail.sent' ? 1 : 0);
    expect(await ledger()).toEqual([{ sent_at: null, error: null }]);
    scene.server.warnings.length = 0;
  });
});

describe('what changes nothing goes on without its row', () => {
  it.each(observed)('%s', async (event, { cause }) => {
    const before = scene.server.errors.length;
    await withoutRowsOf(event, () => cause(scene));
    const lost = () =>
      scene.server.warnings.filter(({ message, fields }) => {
        return message === 'audit.row_not_written' && fields?.['event'] === event;
      });
    await eventually('the loss is told', () => lost().length > 0);
    // An error of the provider is one of its own.
    const failed = scene.server.errors.slice(before).filter(({ fields }) => fields?.['code'] !== event);
    expect(failed).toEqual([]);
  });
});
