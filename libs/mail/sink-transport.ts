import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MailMessage } from './mail-message.js';
import { MailTransport, type Delivery } from './mail-transport.js';

/** Development: a message becomes a file that any mail program opens. Only this user may read it. */
export class SinkTransport extends MailTransport {
  constructor(private readonly directory: string) {
    super();
  }

  async deliver(message: MailMessage): Promise<Delivery> {
    try {
      // The library comes with the first message.
      const { createTransport } = await import('nodemailer');
      const writer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
      const written = await writer.sendMail({ ...message, disableFileAccess: true, disableUrlAccess: true });
      await mkdir(this.directory, { recursive: true, mode: 0o700 });
      const name = `${new Date().toISOString().replaceAll(':', '')}-${message.messageId.slice(1, 37)}.eml`;
      const file = join(this.directory, name);
      // Whoever watches the folder never finds half a message.
      await writeFile(`${file}.part`, written.message as Buffer, { mode: 0o600 });
      await rename(`${file}.part`, file);
      return { outcome: 'accepted' };
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
      return { outcome: 'failed', reason: `the folder of the development sink cannot be written (${code})` };
    }
  }
}
