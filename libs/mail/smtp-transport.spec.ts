import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { SMTPServerOptions } from 'smtp-server';
import { MailServer, PLAIN, reply } from '../../test/fixtures/mail-server.js';
import { describeWithProgram } from '../../test/fixtures/programs.js';
import { selfSignedCertificate, type SelfSigned } from '../../test/fixtures/self-signed.js';
import type { MailMessage } from './mail-message.js';
import { MailSettings, type SmtpOptions } from './mail-settings.js';
import { transportOf } from './mail.module.js';
import { SmtpTransport, type SmtpLimits } from './smtp-transport.js';

const SECRET = 'QZQZ-QZQZ-QZQZ';
const LIMITS: SmtpLimits = { connectMs: 2000, ioMs: 400, attemptMs: 3000 };
const GOING = new AbortController().signal;

const MESSAGE: MailMessage = {
  messageId: '<11111111-1111-4111-8111-111111111111@example.com>',
  from: 'Penstock <penstock@example.com>',
  replyTo: 'ops@example.com',
  to: 'ada@example.org',
  subject: 'Grüße, 世界',
  text: `Your password: ${SECRET}`,
  html: `<p>Your password: <b>${SECRET}</b></p>`,
  headers: { 'Auto-Submitted': 'auto-generated', 'X-PM-Message-Stream': 'accounts' },
};

let server: MailServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

function send(port: number, options: Partial<SmtpOptions & { ca: string }> = {}, signal = GOING) {
  return new SmtpTransport({ host: '127.0.0.1', port, starttls: false, ...options }, LIMITS).deliver(MESSAGE, signal);
}

async function refusedBy(options: SMTPServerOptions): Promise<unknown> {
  server = await MailServer.start({ ...PLAIN, ...options });
  return send(server.port);
}

/** A listener that speaks as it is told to, which is not SMTP. */
async function rawServer(talk: (socket: Socket) => void): Promise<{ port: number; close: () => void }> {
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    talk(socket);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  };
  return { port: (listener.address() as AddressInfo).port, close };
}

/** Listens, and takes no connection. */
const UNATTENDED = `
  const { createServer } = require('node:net');
  const { parentPort } = require('node:worker_threads');
  const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

/** A port that answers no further attempt to connect, like a host whose packets a firewall drops. */
async function unansweringPort(): Promise<{ port: number; close: () => Promise<void> }> {
  const listener = new Worker(UNATTENDED, { eval: true });
  const [port] = (await once(listener, 'message')) as [number];
  // The operating system completes as many as its queue holds: one more than the backlog.
  const queued = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  await Promise.all(queued.map((socket) => once(socket, 'connect')));
  const close = async () => {
    for (const socket of queued) socket.destroy();
    await listener.terminate();
  };
  return { port, close };
}

describe('handing a message to a mail server', () => {
  it('arrives as text and HTML under the id we chose, with the headers that keep robots from answering', async () => {
    server = await MailServer.start();
    expect(await send(server.port)).toEqual({ outcome: 'accepted' });
    const [mail] = server.received;
    expect(mail).toMatchObject({ subject: MESSAGE.subject, messageId: MESSAGE.messageId });
    expect(mail?.text?.trim()).toBe(MESSAGE.text);
    expect(mail?.html).toContain(SECRET);
    expect(mail?.headers.get('auto-submitted')).toBe('auto-generated');
    expect(mail?.headers.get('x-pm-message-stream')).toBe('accounts');
  });

  it('tells a server that cannot be reached apart: nothing was handed over, so it may be tried again', async () => {
    server = await MailServer.start();
    const { port } = server;
    await server.close();
    server = undefined;
    expect(await send(port)).toEqual({
      outcome: 'unreachable',
      reason: `127.0.0.1:${port} cannot be reached (ECONNREFUSED)`,
    });
    expect(await send(port, { host: 'mail.invalid' })).toMatchObject({ outcome: 'unreachable' });
  });

  it('gives up at once when the process ends', async () => {
    expect(await send(1, {}, AbortSignal.abort())).toEqual({ outcome: 'interrupted' });
    const stop = new AbortController();
    const mute = await rawServer((socket) => {
      socket.write('220 there\r\n');
      socket.on('data', () => stop.abort());
    });
    expect(await send(mute.port, {}, stop.signal)).toEqual({ outcome: 'interrupted' });
    mute.close();
  });

  it('sends nothing to a server without encryption where encryption is demanded', async () => {
    server = await MailServer.start();
    expect(await send(server.port, { starttls: true })).toMatchObject({ outcome: 'failed' });
    expect(server.received).toEqual([]);
  });

  it.each<[string, SMTPServerOptions, RegExp]>([
    ['a sender it does not like', { onMailFrom: (_a, _s, next) => next(reply(550, '5.7.1 no')) }, /MAIL FROM.*5\.7\.1/],
    [
      'greylisting, which is not waited for',
      { onRcptTo: (_a, _s, next) => next(reply(451, '4.7.1 come back later')) },
      /RCPT TO.*451 4\.7\.1 come back later/,
    ],
    ['a mailbox that is full', { onRcptTo: (_a, _s, next) => next(reply(552, '5.2.2 full')) }, /5\.2\.2/],
  ])('fails on %s, in the words of the server', async (_what, options, words) => {
    const outcome = await refusedBy(options);
    expect(outcome).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(words) });
    expect(server?.connections ?? 1).toBe(1);
  });

  it('keeps the numbers only, once a server may quote what it refused', async () => {
    const outcome = await refusedBy({
      onData: (stream, _session, done) => {
        stream.resume().on('end', () => done(reply(554, `5.6.0 content refused: "Your password: ${SECRET}"`)));
      },
    });
    expect(outcome).toEqual({ outcome: 'failed', reason: 'EMESSAGE at DATA: 554 5.6.0' });
  });

  it('counts a connection that drops while the message goes as failed, because nobody knows what was taken', async () => {
    const dropping = await rawServer((socket) => {
      socket.write('220 there\r\n');
      socket.on('data', (chunk: Buffer) => {
        const said = chunk.toString();
        if (/^EHLO/.test(said)) socket.write('250 there\r\n');
        else if (/^DATA/.test(said)) socket.write('354 go on\r\n');
        else if (/^(MAIL|RCPT)/.test(said)) socket.write('250 fine\r\n');
        else socket.destroy();
      });
    });
    expect(await send(dropping.port)).toMatchObject({ outcome: 'failed' });
    dropping.close();
  });

  it('gives a server ten seconds to take the connection and thirty to say something (contract 04 §11)', () => {
    const smtp = { host: 'mail.example.com', port: 587, starttls: true };
    const transport = transportOf(
      new MailSettings({
        via: { smtp },
        from: MESSAGE.from,
        baseUrl: '',
        oneTimePasswordHours: 72,
        resetTokenMinutes: 30,
      }),
    );
    expect(transport).toBeInstanceOf(SmtpTransport);
    expect(transport).toMatchObject({ limits: { connectMs: 10_000, ioMs: 30_000 } });
  });

  it('gives up a connection that never completes: nothing was handed over, so it may be tried again', async () => {
    const { port, close } = await unansweringPort();
    const transport = new SmtpTransport({ host: '127.0.0.1', port, starttls: false }, { ...LIMITS, connectMs: 100 });
    expect(await transport.deliver(MESSAGE, GOING)).toEqual({
      outcome: 'unreachable',
      reason: `127.0.0.1:${port} cannot be reached (timeout)`,
    });
    await close();
  });

  it.each<[string, (socket: Socket) => void]>([
    ['from the start', () => undefined],
    ['after its greeting', (socket) => socket.write('220 there\r\n')],
  ])('waits for a server that is silent %s no longer than the limit', async (_since, talk) => {
    const silent = await rawServer(talk);
    expect(await send(silent.port)).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('ETIMEDOUT') });
    silent.close();
  });

  it('ends an attempt that a dripping server would keep alive for ever', async () => {
    const dripping = await rawServer((socket) => {
      socket.write('220 there\r\n');
      const drip = setInterval(() => socket.write('250-still here\r\n'), 100);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await send(dripping.port)).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(/too long/) });
    dripping.close();
  });
});

describeWithProgram('openssl', 'handing a message over encrypted', (openssl) => {
  let pair: SelfSigned;
  beforeAll(() => {
    pair = selfSignedCertificate(openssl);
  });

  const secured = (): SMTPServerOptions => ({
    ...pair,
    authMethods: ['PLAIN', 'LOGIN'],
    onAuth: ({ username, password }, _session, done) =>
      username === 'user' && password === 'right'
        ? done(null, { user: 'user' })
        : done(reply(535, `5.7.8 ${password}`)),
  });

  it('upgrades the connection, signs in, and delivers', async () => {
    server = await MailServer.start({ ...secured(), authOptional: false });
    const options = { host: 'localhost', starttls: true, ca: pair.cert, username: 'user', password: 'right' };
    expect(await send(server.port, options)).toEqual({ outcome: 'accepted' });
    expect(server.received).toHaveLength(1);
  });

  it('trusts no certificate that nobody vouches for, and sends it nothing', async () => {
    server = await MailServer.start(secured());
    const options = { host: 'localhost', starttls: true, username: 'user', password: 'right' };
    const outcome = await send(server.port, options);
    expect(outcome).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('self-signed certificate') });
    expect(server.received).toEqual([]);
  });

  it('trusts no certificate of another host', async () => {
    server = await MailServer.start(secured());
    const options = { host: '127.0.0.2', starttls: true, ca: pair.cert };
    expect(await send(server.port, options)).not.toMatchObject({ outcome: 'accepted' });
    expect(server.received).toEqual([]);
  });

  it('tells nothing of the password when the server quotes it back', async () => {
    server = await MailServer.start({ ...secured(), authOptional: false });
    const options = { host: 'localhost', starttls: true, ca: pair.cert, username: 'user', password: 'planted-wrong' };
    const outcome = await send(server.port, options);
    expect(outcome).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/^EAUTH at AUTH .*535 5\.7\.8$/),
    });
  });
});
