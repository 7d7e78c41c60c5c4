import type { Socket } from 'node:net';
import pg from 'pg';

export interface Drained {
  rows: number;
  bytes: number;
  seconds: number;
}

const COPY_DATA = 0x64;
const ERROR = 0x45;
const READY = 0x5a;
const HEADER = 5;

/**
 * Reads `COPY (…) TO STDOUT` in text format and throws the rows away: how fast rows can reach this machine's Node at
 * all. Messages are counted in the socket's own chunks, without an object for each.
 */
export async function drainCopy(databaseUrl: string, query: string): Promise<Drained> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await drain(client, `COPY (${query}) TO STDOUT`);
  } finally {
    await client.end();
  }
}

function drain(client: pg.Client, sql: string): Promise<Drained> {
  const { connection } = client as unknown as { connection: { stream: Socket; query(text: string): void } };
  const { stream } = connection;
  const others = stream.listeners('data') as ((chunk: Buffer) => void)[];
  stream.removeAllListeners('data');
  return new Promise((resolve, reject) => {
    const started = performance.now();
    let rows = 0;
    let bytes = 0;
    /** Bytes of the message under way that are still to come, and the beginning of a header that was cut. */
    let skip = 0;
    let cut = Buffer.alloc(0);
    const finish = (): void => {
      stream.removeListener('data', read);
      for (const other of others) stream.on('data', other);
    };
    const read = (chunk: Buffer): void => {
      bytes += chunk.length;
      let at = Math.min(skip, chunk.length);
      skip -= at;
      if (skip > 0) return;
      const buffer = cut.length > 0 ? Buffer.concat([cut, chunk]) : chunk;
      cut = Buffer.alloc(0);
      while (buffer.length - at >= HEADER) {
        const type = buffer[at]!;
        const end = at + 1 + buffer.readUInt32BE(at + 1);
        if (type === COPY_DATA) rows += 1;
        else if (type === ERROR) {
          finish();
          return reject(new TypeError(`COPY failed: ${buffer.toString('utf8', at + HEADER, end)}`));
        } else if (type === READY) {
          finish();
          return resolve({ rows, bytes, seconds: (performance.now() - started) / 1000 });
        }
        if (end > buffer.length) {
          skip = end - buffer.length;
          return;
        }
        at = end;
      }
      cut = Buffer.from(buffer.subarray(at));
    };
    stream.on('data', read);
    connection.query(sql);
  });
}
