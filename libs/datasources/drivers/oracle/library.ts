import { DriverFailure } from '../driver-failure.js';
import type { OracleLibrary, RawConnection } from './client.js';
import { plainNumber } from './columns.js';

interface Oracledb extends Record<string, unknown> {
  thin: boolean;
  OUT_FORMAT_ARRAY: number;
  STRING: unknown;
  BUFFER: unknown;
  getConnection: OracleLibrary['getConnection'];
  Connection: { prototype: Record<string, unknown> };
}

interface NumberReader {
  parseOracleNumber(bytes: Buffer): string;
}

/** 2^53 + 1, a fraction, a negative fraction and 10^20, each as the server sends it. */
const RECORDED: readonly [string, readonly number[]][] = [
  ['9007199254740993', [200, 91, 8, 20, 93, 55, 75, 10, 94]],
  ['0.5', [192, 51]],
  ['-0.5', [63, 51, 102]],
  ['100000000000000000000', [203, 2]],
];

/** The library's inner module that turns a NUMBER's bytes into digits; it comes without types. */
const NUMBER_READER: string = 'oracledb/lib/impl/datahandlers/buffer.js';

const NEEDED = ['execute', 'executeMany', 'getStatementInfo', 'breakExecution', 'commit', 'rollback', 'ping', 'close'];

/**
 * Loads the thin driver and proves that it reads numbers exactly and has what this adapter calls.
 *
 * @throws DriverFailure when it is not what it was: the dialect is then unavailable, never silently lossy (01 §6.5)
 */
export async function loadOracle(): Promise<OracleLibrary> {
  const { default: oracledb } = (await import('oracledb')) as unknown as { default: Oracledb };
  const { default: buffers } = (await import(NUMBER_READER)) as unknown as {
    default: { BaseBuffer: { prototype: NumberReader } };
  };
  const reader = Object.create(buffers.BaseBuffer.prototype) as NumberReader;
  const reads = RECORDED.every(([text, bytes]) => plainNumber(reader.parseOracleNumber(Buffer.from(bytes))) === text);
  const complete = NEEDED.every((name) => typeof oracledb.Connection.prototype[name] === 'function');
  if (!oracledb.thin || !reads || !complete) {
    throw new DriverFailure('other', 'The Oracle driver does not read numbers as recorded, or lacks a call.', {
      reason: 'self_test_failed',
    });
  }
  const { OUT_FORMAT_ARRAY, STRING, BUFFER } = oracledb;
  return {
    ...{ OUT_FORMAT_ARRAY, STRING, BUFFER, types: oracledb },
    getConnection: (options) => oracledb.getConnection(options),
    cut,
  };
}

/** Immediate close: nothing is sent. */
const IMMEDIATE = 0x40;

/** The library closes only when the call under way has ended; a server that fell silent never ends it. */
function cut(connection: RawConnection): void {
  const { _impl: inner } = connection as { _impl?: { nscon?: { disconnect?: (how: number) => void } } };
  inner?.nscon?.disconnect?.(IMMEDIATE);
}
