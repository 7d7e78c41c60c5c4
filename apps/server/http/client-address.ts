import type { Request } from 'express';
import ipaddr from 'ipaddr.js';
import { isIPv4 } from 'node:net';

export type TrustedProxies = readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

/** Parses CIDR blocks; the configuration has checked them. */
export function parseProxies(blocks: readonly string[]): TrustedProxies {
  return blocks.map((block) =>
    ipaddr.parseCIDR(block.includes('/') ? block : `${block}/${block.includes(':') ? 128 : 32}`),
  );
}

/**
 * The peer, or the right-most untrusted hop of `X-Forwarded-For` when the peer is a trusted proxy (04 §2). Reading
 * stops at a hop that is no address: what stands left of it was written by nobody we trust.
 */
export function clientAddress(request: Request, proxies: TrustedProxies): string {
  const peer = request.socket.remoteAddress ?? '127.0.0.1';
  const hops = (request.get('X-Forwarded-For') ?? '').split(',').map(withoutPort);
  let nearest = peer;
  while (isTrusted(nearest, proxies)) {
    const hop = hops.pop();
    if (hop === undefined || !isAddress(hop)) break;
    nearest = hop;
  }
  return canonical(nearest);
}

/** An IPv4 peer of a socket that listens for both families comes as `::ffff:1.2.3.4`. */
const MAPPED = '::ffff:';

function canonical(address: string): string {
  const bare = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address;
  // The usual form is its own canonical one.
  if (isIPv4(bare)) return bare;
  return isAddress(address) ? ipaddr.process(address).toString() : address;
}

/** Some proxies write `1.2.3.4:5678` or `[::1]:5678`. */
function withoutPort(hop: string): string {
  const trimmed = hop.trim();
  return /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed;
}

/** Four decimal parts or IPv6; the short and octal spellings of IPv4 are no addresses here. */
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

function isTrusted(address: string, proxies: TrustedProxies): boolean {
  if (proxies.length === 0 || !isAddress(address)) return false;
  const parsed = ipaddr.process(address);
  return proxies.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network as never, bits));
}
