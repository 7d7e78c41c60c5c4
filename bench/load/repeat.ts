/** One run to warm up, then `runs` that count, one after another. */
export async function repeat<T>(runs: number, measure: () => Promise<T>): Promise<T[]> {
  await measure();
  const results: T[] = [];
  for (let run = 0; run < runs; run += 1) results.push(await measure());
  return results;
}
