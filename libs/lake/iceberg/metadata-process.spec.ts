import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { MetadataProcess } from './metadata-process.js';

const { signal } = new AbortController();

describe('the process that reads metadata of others', () => {
  let reader: MetadataProcess;
  beforeEach(() => {
    reader = new MetadataProcess(32);
  });
  afterEach(() => reader.close());

  const table = (text: string) => reader.table(Buffer.from(text), signal);

  it('keeps numbers as they are written: a snapshot id is larger than a double holds', async () => {
    const read = await table(
      `{"current-snapshot-id": 9007199254740993, "snapshots": [{"snapshot-id": 9007199254740992}, {"snapshot-id": 9007199254740993, "manifest-list": "m"}]}`,
    );
    expect(read.snapshot).toEqual({ 'snapshot-id': '9007199254740993', 'manifest-list': 'm' });
  });

  it('answers again after it refused something', async () => {
    await expect(table('{')).rejects.toThrow(/no JSON/);
    await expect(table('[1]')).rejects.toThrow(/no Iceberg metadata/);
    await expect(table('['.repeat(200_000))).rejects.toThrow(/no JSON/);
    await expect(table(`{"a": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`)).rejects.toThrow(/no JSON/);
    expect((await table('{"schemas": [{"fields": [{"id": 1}]}]}')).fields).toEqual([{ id: '1' }]);
  });

  it('refuses arrays of nothing, and types that are long to look at, before they cost anything', async () => {
    const nothing = avroFile('{"type":"array","items":"null"}', Buffer.concat([long(1n << 40n), long(0n)]));
    await expect(reader.manifest(nothing, 10, signal)).rejects.toThrow(/arrays of nothing/);
    const doubled = Array.from({ length: 60 }, (_, level) => level).reduceRight(
      (inner, level) =>
        `{"type":"record","name":"r${level}","fields":[{"name":"a","type":${inner}},{"name":"b","type":${level === 59 ? '"null"' : `"r${level + 1}"`}}]}`,
      '"null"',
    );
    await expect(
      reader.manifest(avroFile(`{"type":"array","items":${doubled}}`, long(0n)), 10, signal),
    ).rejects.toThrow(/arrays of nothing/);
  });

  it('refuses a codec it does not know, and compressed data that is none', async () => {
    const schema = '{"type":"record","name":"r","fields":[{"name":"a","type":"int"}]}';
    expect(await reader.manifest(avroFile(schema, long(1n)), 10, signal)).toHaveLength(1);
    for (const codec of ['xz', 'bzip2', 'deflate', 'snappy', 'zstandard'])
      await expect(reader.manifest(avroFile(schema, long(1n), codec), 10, signal)).rejects.toThrow(/no Avro file/);
  });

  it('ends when a file fills its memory, and the server does not', async () => {
    const wide = `{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"array","items":{"type":"map","values":"null"}}}]}`;
    const empties = Buffer.concat([long(8_000_000n), Buffer.alloc(8_000_000), long(0n)]);
    await expect(reader.manifest(avroFile(wide, empties), 10, signal)).rejects.toThrow(/more memory/);
    await expect(table('{}')).rejects.toThrow(/metadata/);
  });

  it('is left as soon as nobody waits any more', async () => {
    const gone = new AbortController();
    const asked = reader.table(Buffer.from(`{"a": "${'x'.repeat(1_000_000)}"}`), gone.signal);
    gone.abort();
    await expect(asked).rejects.toThrow(/too long/);
    await expect(reader.table(Buffer.from('{}'), gone.signal)).rejects.toThrow();
  });
});

function long(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let left = value * 2n; ; left >>= 7n) {
    if (left < 128n) return Buffer.from([...bytes, Number(left)]);
    bytes.push(Number(left & 127n) | 128);
  }
}

/** One row, as it is. */
function avroFile(schema: string, row: Buffer, codec = 'null'): Buffer {
  const text = (value: string): Buffer => Buffer.concat([long(BigInt(value.length)), Buffer.from(value)]);
  const sync = Buffer.alloc(16, 1);
  return Buffer.concat([
    Buffer.from('Obj\x01', 'latin1'), long(2n), text('avro.schema'), text(schema), text('avro.codec'), text(codec), long(0n),
    sync, long(1n), long(BigInt(row.length)), row, sync,
  ]); // prettier-ignore
}
