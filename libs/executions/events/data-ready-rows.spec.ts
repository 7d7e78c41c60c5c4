import { describe, expect, it } from '@jest/globals';
import { PenstockError, readJson } from '#libs/kernel';
import type { ResultReader } from '../results/result-reader.js';
import { DataReadyRows } from './data-ready-rows.js';
import type { EventRecord } from './event-record.js';

const EVENT: EventRecord = {
  eventId: 5,
  type: 'data_ready',
  timestamp: '2026-01-01T00:00:00.000Z',
  data: '{"row_count":1,"total_rows":1,"rows":[],"rows_omitted":true}',
};

function rowsOf(firstRows: () => Promise<string[]>) {
  return new DataReadyRows({ firstRows } as unknown as ResultReader);
}

describe('the rows of data_ready', () => {
  it('are shown again once the store is back: a watcher of the outage must not hide them from the next', async () => {
    let down = true;
    const rows = rowsOf(() =>
      down ? Promise.reject(new PenstockError('result.storage_unavailable')) : Promise.resolve(['[9007199254740993]']),
    );
    expect(await rows.shown('e', EVENT)).toBe(EVENT.data);
    down = false;
    expect(await rows.shown('e', EVENT)).toContain('"rows":[[9007199254740993]]');
    expect(readJson(await rows.shown('e', EVENT))).not.toHaveProperty('rows_omitted');
  });

  it('are not passed over for a defect of ours', async () => {
    const rows = rowsOf(() => Promise.reject(new TypeError('a defect')));
    await expect(rows.shown('e', EVENT)).rejects.toThrow('a defect');
  });
});
