import { median, percentile } from '../statistics.js';

export interface LoadResult {
  perSecond: number;
  p50: number;
  p99: number;
}

/** `clients` work for `seconds`, each beginning anew when its last operation is done. Latencies in milliseconds. */
export async function closedLoop(
  clients: number,
  seconds: number,
  operation: (client: number) => Promise<unknown>,
): Promise<LoadResult> {
  const latencies: number[] = [];
  const started = performance.now();
  const end = started + seconds * 1000;
  const loop = async (client: number): Promise<void> => {
    while (performance.now() < end) {
      const begun = performance.now();
      await operation(client);
      latencies.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => loop(client)));
  const elapsed = (performance.now() - started) / 1000;
  return { perSecond: latencies.length / elapsed, p50: median(latencies), p99: percentile(latencies, 0.99) };
}

/** The run whose parts are each the median of all runs. */
export function medianLoad(runs: readonly LoadResult[]): LoadResult {
  return {
    perSecond: median(runs.map(({ perSecond }) => perSecond)),
    p50: median(runs.map(({ p50 }) => p50)),
    p99: median(runs.map(({ p99 }) => p99)),
  };
}
