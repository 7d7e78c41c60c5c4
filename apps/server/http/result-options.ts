import type { Request } from 'express';

/** `DP-Result-TTL-Seconds` and `DP-Result-Page-Rows`; what cannot be parsed counts as absent (03 §2). */
export function resultOptions(request: Request): { resultTtlSeconds?: number; resultPageRows?: number } {
  return {
    resultTtlSeconds: wholeHeader(request, 'DP-Result-TTL-Seconds'),
    resultPageRows: wholeHeader(request, 'DP-Result-Page-Rows'),
  };
}

function wholeHeader(request: Request, name: string): number | undefined {
  const text = request.get(name)?.trim() ?? '';
  return /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined;
}
