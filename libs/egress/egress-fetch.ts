import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { PenstockError } from '#libs/kernel';
import type { EgressPolicy } from './egress-policy.js';

export interface FetchLimits {
  /** From the look-up of the name to the last byte. */
  timeoutMs: number;
  maxBytes: number;
}

export interface EgressRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/**
 * One HTTP request under the egress policy: the address that was checked is the one dialled, redirects are answers and
 * never followed, and neither a slow nor an endless body holds the caller.
 *
 * @throws `datasource.validation.host_forbidden`; `HostUnresolved`, the socket's error, a `TimeoutError` or a
 *   {@link AnswerTooLarge} when there is no whole answer
 */
export async function egressFetch(
  policy: EgressPolicy,
  url: URL,
  { method = 'GET', headers = {}, body, signal }: EgressRequest,
  { timeoutMs, maxBytes }: FetchLimits,
): Promise<Response> {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new PenstockError('datasource.validation.host_forbidden', { details: { rule: 'scheme' } });
  }
  const limit = AbortSignal.timeout(timeoutMs);
  const ends = signal ? AbortSignal.any([signal, limit]) : limit;
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port) || (secure ? 443 : 80);
  const { address, family } = await unlessAborted(policy.check(host, port), ends);
  const options: RequestOptions & { servername?: string } = {
    host: address,
    family,
    port,
    method,
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host, 'content-length': String(Buffer.byteLength(body ?? '')) },
    signal: ends,
    // A pooled connection could have been opened for another check.
    agent: false,
    ...(secure && isIP(host) === 0 ? { servername: host } : {}),
  };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = (secure ? httpsRequest : httpRequest)(options, resolve);
    sent.once('error', (error) => reject(ends.aborted ? ends.reason : error));
    sent.end(body);
  });
  return toResponse(answer, await readBody(answer, maxBytes, ends));
}

/** The other side sends more than anybody needs to read. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

async function readBody(answer: IncomingMessage, maxBytes: number, ends: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new AnswerTooLarge(`The answer is larger than ${maxBytes} bytes.`);
      chunks.push(chunk);
    }
  } catch (error) {
    answer.destroy();
    throw ends.aborted ? ends.reason : error;
  }
  return Buffer.concat(chunks);
}

function toResponse(answer: IncomingMessage, body: Buffer): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) headers.append(name, each);
  }
  const status = answer.statusCode ?? 502;
  const empty = status === 204 || status === 205 || status === 304 || status < 200;
  return new Response(empty ? null : new Uint8Array(body), { status: status < 200 ? 502 : status, headers });
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
