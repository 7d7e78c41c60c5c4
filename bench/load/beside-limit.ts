import type { BenchOptions } from '../options.js';
import { closedLoop, medianLoad, type LoadResult } from './closed-loop.js';
import { KeepAliveClient, type Exchange } from './keep-alive-client.js';
import { repeat } from './repeat.js';

/** One request, and the server that is asked it again and again. */
export interface Asked {
  baseUrl: string;
  call: Exchange;
}

export interface BesideLimit {
  clients: number;
  product: Asked;
  limit: Asked;
  /** Throws when the two answers are not of the same work. */
  compare?: (product: string, limit: string) => void;
}

/** Product and limit under the same load, by turns. */
export async function besideLimit(
  { clients, product, limit, compare }: BesideLimit,
  options: BenchOptions,
): Promise<{ product: LoadResult; limit: LoadResult }> {
  const [ours, bare] = [product, limit].map(({ baseUrl }) => new KeepAliveClient(baseUrl, clients)) as [
    KeepAliveClient,
    KeepAliveClient,
  ];
  try {
    compare?.(await ours.send(product.call), await bare.send(limit.call));
    const turns = await repeat(options.runs, async () => ({
      product: await closedLoop(clients, options.seconds, () => ours.send(product.call)),
      limit: await closedLoop(clients, options.seconds, () => bare.send(limit.call)),
    }));
    return {
      product: medianLoad(turns.map((turn) => turn.product)),
      limit: medianLoad(turns.map((turn) => turn.limit)),
    };
  } finally {
    ours.close();
    bare.close();
  }
}
