import { describe, expect, it } from '@jest/globals';

import { cellOf, eventually, NEVER } from './driver.fixture.js';
import type { DriverConnection } from './driver.js';

/** One engine that statements are stopped on. */
export interface StoppedEngine {
  connect(signal: AbortSignal): Promise<DriverConnection>;
  /** A statement that works for ever before its first row. */
  endless: string;
  /** A statement whose rows come for ever. */
  stream: string;
  /** Whether the engine works on something of this connection's. */
  works(connection: DriverConnection): Promise<boolean>;
}

/** Each moment at which a caller may give up, and what is left of the statement and the connection (02 §5.2). */
export function stopsAtEveryMoment(engine: () => StoppedEngine): void {
  describe('a caller who gives up', () => {
    const gone = async (connection: DriverConnection): Promise<boolean> =>
      await eventually(async () => !(await engine().works(connection)));

    it('before a connection is there gets none', async () => {
      const caller = new AbortController();
      const connecting = engine().connect(caller.signal);
      caller.abort();
      await expect(connecting).rejects.toMatchObject({ kind: 'cancelled' });
      await expect(engine().connect(caller.signal)).rejects.toMatchObject({ kind: 'cancelled' });
    });

    it('while the statement works stops it in the engine, and the connection is not lent again', async () => {
      const { connect, endless, works } = engine();
      const connection = await connect(NEVER);
      const caller = new AbortController();
      const opening = connection.openCursor({ sql: endless, values: [] }, { fetchSize: 10, signal: caller.signal });
      const told = expect(opening.then((cursor) => cursor.next(caller.signal))).rejects.toMatchObject({
        kind: 'cancelled',
      });
      expect(await eventually(() => works(connection))).toBe(true);
      caller.abort();
      await told;
      expect(await gone(connection)).toBe(true);
      expect([connection.usable, await connection.reset()]).toEqual([false, false]);
    });

    it('while rows come stops them in the engine, and a cut stream is never taken for its end', async () => {
      const { connect, stream } = engine();
      const connection = await connect(NEVER);
      const caller = new AbortController();
      const cursor = await connection.openCursor({ sql: stream, values: [] }, { fetchSize: 10, signal: caller.signal });
      expect(await cursor.next(caller.signal)).not.toBeNull();
      caller.abort();
      await expect(cursor.next(caller.signal)).rejects.toMatchObject({ kind: 'cancelled' });
      await cursor.close();
      expect(await gone(connection)).toBe(true);
      expect(await connection.reset()).toBe(false);
    });

    it('between two batches without another word leaves nothing at work', async () => {
      const { connect, stream } = engine();
      const connection = await connect(NEVER);
      const cursor = await connection.openCursor({ sql: stream, values: [] }, { fetchSize: 10, signal: NEVER });
      await cursor.next(NEVER);
      await cursor.close();
      await cursor.close();
      expect(await gone(connection)).toBe(true);
    });

    it('during a read of the catalog stops that too', async () => {
      const { connect, endless, works } = engine();
      const connection = await connect(NEVER);
      const caller = new AbortController();
      const told = expect(connection.catalog({ sql: endless, values: [] }, caller.signal)).rejects.toMatchObject({
        kind: 'cancelled',
      });
      expect(await eventually(() => works(connection))).toBe(true);
      caller.abort();
      await told;
      expect([await gone(connection), connection.usable]).toEqual([true, false]);
    });

    it('after the end hits nobody: the connection goes on', async () => {
      const connection = await engine().connect(NEVER);
      const caller = new AbortController();
      const cursor = await connection.openCursor(
        { sql: 'SELECT 1 AS one', values: [] },
        { fetchSize: 10, signal: caller.signal },
      );
      while (await cursor.next(caller.signal));
      await cursor.close();
      caller.abort();
      expect(connection.usable).toBe(true);
      expect(JSON.parse(await cellOf(connection, 'SELECT 2 AS two'))).toEqual(expect.anything());
    });
  });
}
