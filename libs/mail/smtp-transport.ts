import { connect, type Socket } from 'node:net';
import type { MailMessage } from './mail-message.js';
import type { SmtpOptions } from './mail-settings.js';
import { MailTransport, type Delivery } from './mail-transport.js';
import { refusalReason } from './smtp-refusal.js';

/** Port on which servers speak TLS from the first byte. */
const IMPLICIT_TLS_PORT = 465;

export interface SmtpLimits {
  connectMs: number;
  /** Longest silence of the server. */
  ioMs: number;
  /** The whole attempt, however busily the server drips. */
  attemptMs: number;
}

/** Connect 10 s, I/O 30 s (contract 04 §11). */
const LIMITS: SmtpLimits = { connectMs: 10_000, ioMs: 30_000, attemptMs: 120_000 };

/** Hands messages to a mail server, one connection each. Certificates are checked. */
export class SmtpTransport extends MailTransport {
  constructor(
    private readonly options: SmtpOptions & { ca?: string },
    readonly limits: SmtpLimits = LIMITS,
  ) {
    super();
  }

  async deliver(message: MailMessage, signal: AbortSignal): Promise<Delivery> {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(this.limits.attemptMs)]);
    // The connection is ours: what fails before it stands has handed nothing over.
    const socket = await this.#connect(bounded);
    if ('unreachable' in socket) {
      return signal.aborted ? { outcome: 'interrupted' } : { outcome: 'unreachable', reason: socket.unreachable };
    }
    try {
      const session = await this.#session(socket.connected);
      await session.sendMail({
        ...message,
        disableFileAccess: true,
        disableUrlAccess: true,
        signal: bounded,
      });
      return { outcome: 'accepted' };
    } catch (error) {
      return signal.aborted ? { outcome: 'interrupted' } : { outcome: 'failed', reason: refusalReason(error) };
    } finally {
      socket.connected.destroy();
    }
  }

  /** The library comes with the first message: a server that sends none does without. */
  async #session(connection: Socket) {
    const { createTransport } = await import('nodemailer');
    const { host, port, username, password, starttls, ca } = this.options;
    return createTransport({
      host,
      port,
      getSocket: (_options: unknown, hand: (error: Error | null, socket: { connection: Socket }) => void) =>
        hand(null, { connection }),
      secure: port === IMPLICIT_TLS_PORT,
      requireTLS: starttls,
      ignoreTLS: !starttls,
      ...(username === undefined ? {} : { auth: { user: username, pass: password ?? '' } }),
      tls: ca === undefined ? {} : { ca },
      greetingTimeout: this.limits.ioMs,
      socketTimeout: this.limits.ioMs,
      logger: false,
    } as object);
  }

  async #connect(signal: AbortSignal): Promise<{ connected: Socket } | { unreachable: string }> {
    const { host, port } = this.options;
    const { promise, resolve } = Promise.withResolvers<{ connected: Socket } | { unreachable: string }>();
    if (signal.aborted) return { unreachable: 'the server is stopping' };
    const socket = connect({ host, port, keepAlive: true });
    const give = (reason: string): void => {
      socket.destroy();
      resolve({ unreachable: `${host}:${port} cannot be reached (${reason})` });
    };
    const onAbort = (): void => give('aborted');
    const onError = (error: NodeJS.ErrnoException): void => give(error.code ?? 'unknown');
    const timer = setTimeout(() => give('timeout'), this.limits.connectMs);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', onError);
    socket.once('connect', () => {
      // From here on the session listens; an error with no listener would end the process.
      socket.on('error', () => undefined);
      socket.removeListener('error', onError);
      resolve({ connected: socket });
    });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }
}
