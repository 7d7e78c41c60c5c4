import { describe, expect, it } from '@jest/globals';
import type { ColumnBatch } from '#libs/typesystem';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ChildStream } from './child-stream.js';

const batch = (rowCount: number) => ({ rowCount, vectors: [] }) as unknown as ColumnBatch;
const never = new AbortController().signal;

describe('the rows of a child on their way to its parent', () => {
  it('wait until the parent is done with the batch before: a slow target slows the source', async () => {
    const stream = new ChildStream();
    let given = 0;
    const child = (async () => {
      for (let rows = 1; rows <= 3; rows++) {
        await stream.put(batch(rows), never);
        given = rows;
      }
      stream.complete([]);
    })();
    await nextTurn();
    expect((await stream.next())?.rowCount).toBe(1);
    await nextTurn();
    // The parent still works on the first batch, whose memory is the child's.
    expect(given).toBe(0);
    expect((await stream.next())?.rowCount).toBe(2);
    await nextTurn();
    expect(given).toBe(1);
    expect((await stream.next())?.rowCount).toBe(3);
    expect(await stream.next()).toBeNull();
    await child;
    expect(given).toBe(3);
  });

  it('reach a parent that asked before there were any', async () => {
    const stream = new ChildStream();
    const asked = stream.next();
    const put = stream.put(batch(7), never);
    expect((await asked)?.rowCount).toBe(7);
    const end = stream.next();
    await put;
    stream.end();
    expect(await end).toBeNull();
    expect(await stream.next()).toBeNull();
  });

  it('let the child go when it is stopped, whether its batch was taken or not', async () => {
    for (const taken of [false, true]) {
      const stream = new ChildStream();
      const stop = new AbortController();
      const put = stream.put(batch(1), stop.signal);
      if (taken) await stream.next();
      stop.abort(new TypeError('stopped'));
      await expect(put).rejects.toThrow('stopped');
      stream.end();
      expect(await stream.next()).toBeNull();
    }
    await expect(new ChildStream().put(batch(1), AbortSignal.abort(new TypeError('gone')))).rejects.toThrow('gone');
  });

  it('have no columns when the child ends before its first row', async () => {
    const stream = new ChildStream();
    stream.end();
    expect(await stream.columns).toBeUndefined();
  });
});
