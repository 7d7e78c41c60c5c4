import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AuditLog } from '#libs/audit';
import { Logger, newId, type LogFields } from '#libs/kernel';
import { eventually } from '../../test/fixtures/eventually.js';
import { MailServer, PLAIN, reply } from '../../test/fixtures/mail-server.js';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { MailClaimRepository } from './mail-claims.repository.js';
import { MailDispatcher } from './mail-dispatcher.js';
import { composeMessage, type MailMessage } from './mail-message.js';
import { MailNotices } from './mail-notices.js';
import { MailSettings, type MailOptions } from './mail-settings.js';
import { MailTransport, type Delivery } from './mail-transport.js';
import { transportOf } from './mail.module.js';
import type { Notice } from './notice.js';

const PASSWORD = 'QZQZ-QZQZ-QZQZ';
const ACTOR = { correlationId: newId() };

class RecordingLogger extends Logger {
  readonly lines: [string, unknown][] = [];
  debug(): void {}
  info(message: string, fields?: LogFields): void {
    this.lines.push([message, fields]);
  }
  warn(): void {}
  error(): void {}
  child(): Logger {
    return this;
  }
}

let db: TestDatabase;
let server: MailServer | undefined;
let person: { id: string; email: string; displayName: string };

beforeEach(async () => {
  db = await createTestDatabase();
  const [row] = await db.database.query<{ id: string }>(
    `INSERT INTO users (email, display_name, provider, provider_subject) VALUES ('ada@example.org', 'Ada', 'local', 'a') RETURNING id`,
  );
  person = { id: row?.id ?? '', email: 'ada@example.org', displayName: 'Ada <b>&</b>\r\nBcc: eve@example.org' };
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  await db.drop();
});

/** One server instance's mail. */
function mail(options: Partial<MailOptions>, transport?: MailTransport) {
  const settings = new MailSettings({
    from: 'Penstock <penstock@example.com>',
    baseUrl: 'https://data.example.com',
    oneTimePasswordHours: 72,
    resetTokenMinutes: 10,
    ...options,
  });
  const log = new RecordingLogger();
  const claims = new MailClaimRepository();
  const dispatcher = new MailDispatcher(
    db.database,
    claims,
    transport ?? transportOf(settings),
    settings,
    new AuditLog(),
    log,
  );
  return { notices: new MailNotices(claims, dispatcher, settings, log), dispatcher, log };
}

const smtp = (port: number) => ({ via: { smtp: { host: '127.0.0.1', port, starttls: false } } });
const announce = (notices: MailNotices, notice: Notice) =>
  db.database.transaction((tx) => notices.announce(tx, ACTOR, notice));
const welcome = (): Notice => ({ kind: 'welcome', person, oneTimePassword: PASSWORD });

async function ledger() {
  return db.database.query<Record<string, string | null>>(
    `SELECT kind, recipient, sent_at IS NOT NULL AS sent, message_id, error FROM mail_sends ORDER BY claimed_at`,
  );
}

async function auditOf(event: string): Promise<Record<string, unknown>[]> {
  const rows = await db.database.query<{ details: string }>(
    'SELECT details_json AS details FROM audit_log WHERE event = $1',
    [event],
  );
  return rows.map(({ details }) => JSON.parse(details) as Record<string, unknown>);
}

describe('a notice', () => {
  it('is sent once the act has committed, and its row tells when and under which id, but nothing of the body', async () => {
    server = await MailServer.start();
    const { notices, dispatcher } = mail(smtp(server.port));
    await announce(notices, welcome());
    await dispatcher.settled();
    const [message] = server.received;
    expect(message?.text).toContain(PASSWORD);
    expect(await ledger()).toEqual([
      { kind: 'welcome', recipient: 'ada@example.org', sent: true, message_id: message?.messageId, error: null },
    ]);
    expect(await auditOf('mail.sent')).toMatchObject([
      { kind: 'welcome', to: 'ada@example.org', act_id: person.id, message_id: message?.messageId },
    ]);
    const dump = await db.database.query<{ row: string }>(
      'SELECT row_to_json(m)::text AS row FROM mail_sends m UNION ALL SELECT row_to_json(a)::text FROM audit_log a',
    );
    for (const { row } of dump) expect(row).not.toContain(PASSWORD);
  });

  it('is not sent when the act is rolled back', async () => {
    server = await MailServer.start();
    const { notices, dispatcher } = mail(smtp(server.port));
    const act = db.database.transaction(async (tx) => {
      await notices.announce(tx, ACTOR, welcome());
      throw new TypeError('the act fails');
    });
    await expect(act).rejects.toThrow('the act fails');
    await dispatcher.settled();
    expect([server.connections, await ledger()]).toEqual([0, []]);
  });

  it('goes once, however many instances announce the same act at once', async () => {
    server = await MailServer.start();
    const instances = [mail(smtp(server.port)), mail(smtp(server.port)), mail(smtp(server.port))];
    await Promise.all(instances.map(({ notices }) => announce(notices, welcome())));
    await Promise.all(instances.map(({ dispatcher }) => dispatcher.settled()));
    expect([server.received.length, (await ledger()).length]).toEqual([1, 1]);
  });

  it('goes again for another reset, which is another act', async () => {
    server = await MailServer.start();
    const { notices, dispatcher } = mail(smtp(server.port));
    for (const oneTimePassword of ['AAAA-AAAA-AAAA', 'BBBB-BBBB-BBBB']) {
      await announce(notices, { kind: 'password_reset', person, actId: newId(), oneTimePassword });
    }
    await dispatcher.settled();
    expect(server.received).toHaveLength(2);
  });

  it('never goes twice when the process died between the commit and the sending: its row stays pending', async () => {
    server = await MailServer.start();
    class Died extends MailTransport {
      deliver(): Promise<Delivery> {
        return new Promise(() => undefined);
      }
    }
    await announce(mail(smtp(server.port), new Died()).notices, welcome());
    const again = mail(smtp(server.port));
    await announce(again.notices, welcome());
    await again.dispatcher.settled();
    expect(server.connections).toBe(0);
    expect(await ledger()).toMatchObject([{ sent: false, message_id: null, error: null }]);
  });

  it('waits for a mail server that comes back within a second', async () => {
    const listener = createServer();
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as AddressInfo;
    await new Promise((resolve) => listener.close(resolve));
    const { notices, dispatcher } = mail(smtp(port));
    await announce(notices, welcome());
    server = await MailServer.start(PLAIN, port);
    await dispatcher.settled();
    expect(await ledger()).toMatchObject([{ sent: true }]);
  });

  it('fails after three attempts that reached nobody, and the act does not', async () => {
    let attempts = 0;
    class Nobody extends MailTransport {
      async deliver(): Promise<Delivery> {
        attempts += 1;
        return { outcome: 'unreachable', reason: 'nobody there' };
      }
    }
    const { notices, dispatcher } = mail(smtp(1), new Nobody());
    await announce(notices, welcome());
    await dispatcher.settled();
    expect(attempts).toBe(3);
    expect(await ledger()).toMatchObject([{ sent: false, error: 'nobody there' }]);
    expect(await auditOf('mail.failed')).toMatchObject([{ to: 'ada@example.org', error: 'nobody there' }]);
  });

  it('is refused once and for all by a server that answered', async () => {
    server = await MailServer.start({ ...PLAIN, onRcptTo: (_a, _s, next) => next(reply(451, '4.7.1 later')) });
    const { notices, dispatcher } = mail(smtp(server.port));
    await announce(notices, welcome());
    await dispatcher.settled();
    expect([server.connections, await ledger()]).toMatchObject([1, [{ sent: false }]]);
  });

  it('escapes names in HTML, and no name writes headers or lines of its own', async () => {
    server = await MailServer.start();
    const { notices, dispatcher } = mail(smtp(server.port));
    await announce(notices, welcome());
    await dispatcher.settled();
    const [message] = server.received;
    expect(message?.html).toContain('Ada &lt;b&gt;&amp;&lt;/b&gt; Bcc: eve@example.org');
    expect(message?.text).toContain('Ada <b>&</b> Bcc: eve@example.org,');
    expect(message?.bcc).toBeUndefined();
    const settings = new MailSettings({ from: 'a@b', baseUrl: '', oneTimePasswordHours: 1, resetTokenMinutes: 1 });
    const forged = () => composeMessage(newId(), 'ada@example.org\r\nBcc: eve@example.org', welcome(), settings);
    expect(forged).toThrow('the header to holds a control character');
  });
});

describe('mail that is off', () => {
  it('claims nothing, and says once in the log that a message was skipped, by its domain only', async () => {
    const { notices, log } = mail({});
    expect(notices.enabled).toBe(false);
    await announce(notices, welcome());
    await announce(notices, { kind: 'new_user', person, origin: 'an administrator' });
    expect(await ledger()).toEqual([]);
    expect(log.lines).toEqual([['mail.skipped', { kind: 'welcome', domain: 'example.org' }]]);
  });
});

describe('the development sink', () => {
  it('writes one whole message a file, for nobody else to read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'penstock-mail-'));
    const { notices, dispatcher } = mail({ via: { sinkDirectory: join(folder, 'box') }, opsTo: 'ops@example.com' });
    await announce(notices, { kind: 'password_reset', person, actId: newId(), resetToken: 'a-token' });
    await announce(notices, { kind: 'new_user', person, origin: 'an administrator' });
    await dispatcher.settled();
    const files = await readdir(join(folder, 'box'));
    expect(files).toHaveLength(2);
    const texts = await Promise.all(files.map((file) => readFile(join(folder, 'box', file), 'utf8')));
    expect(texts.join('')).toContain('reset-password#token=3Da-token');
    expect(texts.filter((text) => text.includes('To: ops@example.com'))).toHaveLength(1);
    expect((await stat(join(folder, 'box', files[0] ?? ''))).mode & 0o077).toBe(0);
    expect(await ledger()).toMatchObject([{ sent: true }, { sent: true, recipient: 'ops@example.com' }]);
    await rm(folder, { recursive: true });
  });

  it('records a folder that cannot be written', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'penstock-mail-'));
    await writeFile(join(folder, 'file'), '');
    const { notices, dispatcher } = mail({ via: { sinkDirectory: join(folder, 'file', 'box') } });
    await announce(notices, welcome());
    await dispatcher.settled();
    await rm(folder, { recursive: true });
    expect(await ledger()).toMatchObject([{ error: expect.stringContaining('cannot be written') }]);
  });
});

describe('a burst of messages', () => {
  /** Takes nothing until it is opened. */
  class Gate extends MailTransport {
    readonly taken: MailMessage[] = [];
    readonly opened = Promise.withResolvers<void>();
    async deliver(message: MailMessage): Promise<Delivery> {
      this.taken.push(message);
      await this.opened.promise;
      return { outcome: 'accepted' };
    }
  }

  it('is sent by two workers, with a hundred waiting; whoever brings one more waits for it himself', async () => {
    const gate = new Gate();
    const { notices, dispatcher } = mail(smtp(1), gate);
    const reset = (): Notice => ({ kind: 'password_reset', person, actId: newId(), oneTimePassword: PASSWORD });
    for (let n = 0; n < 102; n++) await announce(notices, reset());
    expect(gate.taken).toHaveLength(2);
    let served = false;
    const one = announce(notices, reset()).then(() => (served = true));
    await eventually('the caller runs its own', () => gate.taken.length === 3);
    expect(served).toBe(false);
    gate.opened.resolve();
    await one;
    await dispatcher.settled();
    expect(gate.taken).toHaveLength(103);
  });

  it('is finished before the process ends', async () => {
    const gate = new Gate();
    const { notices, dispatcher } = mail(smtp(1), gate);
    for (let n = 0; n < 5; n++) {
      await announce(notices, { kind: 'password_reset', person, actId: newId(), oneTimePassword: PASSWORD });
    }
    const stopping = dispatcher.stop();
    gate.opened.resolve();
    await stopping;
    expect((await ledger()).map((row) => row['sent'])).toEqual([true, true, true, true, true]);
  });

  it('stays pending, sent or not, where a mail server is too slow for the end of the process', async () => {
    // It takes the message and never says so.
    server = await MailServer.start({ ...PLAIN, onData: (stream) => void stream.resume() });
    const { notices, dispatcher } = mail(smtp(server.port));
    for (let n = 0; n < 3; n++) {
      await announce(notices, { kind: 'password_reset', person, actId: newId(), oneTimePassword: PASSWORD });
    }
    const two = server;
    await eventually('two dialogues are under way', () => two.connections === 2);
    await dispatcher.stop(50);
    expect(await ledger()).toMatchObject(Array(3).fill({ sent: false, message_id: null, error: null }));
    expect(await auditOf('mail.failed')).toEqual([]);
    expect(two.connections).toBe(2);
  });

  it('stays pending when the process ends between two attempts, and the end does not wait for the pause', async () => {
    let attempts = 0;
    class Nobody extends MailTransport {
      async deliver(): Promise<Delivery> {
        attempts += 1;
        return { outcome: 'unreachable', reason: 'nobody there' };
      }
    }
    const { notices, dispatcher } = mail(smtp(1), new Nobody());
    await announce(notices, welcome());
    await eventually('the second pause', () => attempts === 2);
    await dispatcher.stop(0);
    expect(attempts).toBe(2);
    expect(await ledger()).toMatchObject([{ sent: false, error: null }]);
    expect(await auditOf('mail.failed')).toEqual([]);
  });

  it('is not begun by whoever brings one after the end', async () => {
    server = await MailServer.start();
    const { notices, dispatcher } = mail(smtp(server.port));
    await dispatcher.stop(0);
    await announce(notices, welcome());
    await dispatcher.settled();
    expect(server.connections).toBe(0);
    expect(await ledger()).toMatchObject([{ sent: false, error: null }]);
  });
});
