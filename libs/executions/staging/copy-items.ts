import duckdb from '@duckdb/node-bindings';

type Items = Uint8Array | Int16Array | Int32Array | Float32Array | Float64Array | BigInt64Array;

/** Gives a vector values that lie as the engine has them. */
export function copyItems(target: duckdb.Vector, items: Items, count: number): void {
  if (items.length < count) throw new RangeError('a vector has fewer rows than its batch');
  const { buffer, byteOffset, BYTES_PER_ELEMENT } = items;
  duckdb.copy_data_to_vector(target, 0, buffer as ArrayBuffer, byteOffset, count * BYTES_PER_ELEMENT);
}
