import { describe, expect, it } from '@jest/globals';

import { DriverFailure } from './driver-failure.js';
import { h2Driver } from './h2/h2.driver.js';
import { withProven } from './load-drivers.js';
import { readExactValues, type ValueParser } from './mssql/exact-values.js';
import { loadMssql } from './mssql/library.js';

describe('drivers that must prove themselves', () => {
  it('a driver that fails its self-test is left out, and whoever asks is told why', async () => {
    const registry = await withProven(
      [h2Driver],
      [
        ['MSSQL', () => Promise.reject(new DriverFailure('other', 'it reads 2^53 + 1 as 2^53.'))],
        ['ORACLE', () => Promise.reject(Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' }))],
      ],
    );
    expect(registry.find('MSSQL')).toBeUndefined();
    expect(() => registry.get('MSSQL')).toThrow(
      expect.objectContaining({
        code: 'datasource.driver_not_loaded',
        message: 'MSSQL is not available: it reads 2^53 + 1 as 2^53.',
        details: { dialect: 'MSSQL', loaded: ['H2'] },
      }),
    );
    expect(() => registry.get('ORACLE')).toThrow('its package is not installed');
    expect(registry.get('H2')).toBe(h2Driver);
  });

  it('a library whose reader was changed behind our back does not pass', async () => {
    await loadMssql();
    const { default: parser } = (await import('tedious/lib/value-parser.js')) as unknown as { default: ValueParser };
    const proven = parser.readValue;
    parser.readValue = (...given) => {
      const result = proven(...given);
      return typeof result.value === 'string' ? { ...result, value: Number(result.value) } : result;
    };
    try {
      await expect(loadMssql()).rejects.toMatchObject({ reason: 'self_test_failed' });
    } finally {
      parser.readValue = proven;
    }
    await expect(loadMssql()).resolves.toBeDefined();
  });

  it('wraps the reader once, however often the driver is loaded', () => {
    let calls = 0;
    const parser: ValueParser = {
      readValue: (_buffer, offset) => {
        calls += 1;
        return { value: null, offset };
      },
    };
    readExactValues(parser);
    readExactValues(parser);
    parser.readValue(Buffer.alloc(1), 0, { type: { name: 'Money' } }, {});
    expect(calls).toBe(1);
  });
});
