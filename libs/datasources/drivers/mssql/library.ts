import { DriverFailure } from '../driver-failure.js';
import type { InstanceLookup, Tedious } from './client.js';
import { readExactValues, type ValueParser } from './exact-values.js';

/** `tedious` with its values read exactly, and what else of it is used. */
export interface MssqlLibrary extends Tedious {
  instanceLookup: InstanceLookup;
}

interface TokenParser {
  write(data: Buffer): void;
  read(): { columns?: { value?: unknown }[] } | undefined;
}

/** 2^53 + 1 with a fraction, the greatest NUMERIC(38), and a MONEY past a double's digits, in one row. */
const EXPECTED = ['900719925474099.3', '-99999999999999999999999999999999999999', '922337203685477.5807'];

/**
 * The driver, proven and loaded with the first connection: with the sign-in libraries it brings it takes 20 MB, which a
 * server without SQL Server does without. Rejects as `proveMssql`.
 */
export async function loadMssql(): Promise<MssqlLibrary> {
  await proveMssql();
  const { default: tedious } = (await import('tedious')) as unknown as { default: Tedious };
  const { default: lookup } = (await import('tedious/lib/instance-lookup.js')) as unknown as {
    default: { instanceLookup: InstanceLookup };
  };
  const { Connection, Request, TYPES } = tedious;
  return { Connection, Request, TYPES, instanceLookup: lookup.instanceLookup };
}

/**
 * Proves at boot that the driver reads exactly; only what reads is loaded for that.
 *
 * @throws DriverFailure when the package or its inner parts are not what they were: the dialect is then unavailable,
 *   never silently lossy (01 §6.5)
 */
export async function proveMssql(): Promise<void> {
  const { default: parser } = (await import('tedious/lib/value-parser.js')) as unknown as { default: ValueParser };
  const { default: StreamParser } = (await import('tedious/lib/token/stream-parser.js')) as unknown as {
    default: new (options: Record<string, unknown>) => TokenParser;
  };
  readExactValues(parser);
  const stream = new StreamParser({ tdsVersion: '7_4', useUTC: true });
  stream.write(recordedPacket());
  stream.read();
  const cells = stream.read()?.columns?.map(({ value }) => value) ?? [];
  if (cells.length !== EXPECTED.length || cells.some((value, index) => value !== EXPECTED[index])) {
    throw new DriverFailure('other', 'The SQL Server driver does not read exact numbers as recorded.', {
      reason: 'self_test_failed',
    });
  }
}

/** Description and row of NUMERIC(38,1), DECIMAL(38,0) and MONEY, as a server sends them. */
function recordedPacket(): Buffer {
  const name = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'utf16le')]);
  const head = (type: readonly number[]): Buffer => Buffer.from([0, 0, 0, 0, 9, 0, ...type]);
  const number = (sign: 0 | 1, magnitude: bigint): Buffer => {
    const bytes = Buffer.alloc(18);
    bytes[0] = 17;
    bytes[1] = sign;
    bytes.writeBigUInt64LE(magnitude & (2n ** 64n - 1n), 2);
    bytes.writeBigUInt64LE(magnitude >> 64n, 10);
    return bytes;
  };
  return Buffer.concat([
    Buffer.from([0x81, 3, 0]),
    ...[head([0x6c, 17, 38, 1]), name('n'), head([0x6a, 17, 38, 0]), name('d'), head([0x6e, 8]), name('m')],
    Buffer.from([0xd1]),
    number(1, 9_007_199_254_740_993n),
    number(0, 10n ** 38n - 1n),
    Buffer.from([8, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff]),
  ]);
}
