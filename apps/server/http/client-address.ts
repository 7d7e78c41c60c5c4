import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

export type TrustedProxies = readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

/** Parses CIDR blocks; the configuration has checked them. */
export function parseProxies(blocks: readonly string[]): TrustedProxies {
  return blocks.map((block) =>
    ipaddr.parseCIDR(block.includes('/') ? block : `${block}/${block.includes(':') ? 128 : 32}`),
  );
}

/** The peer, or the right-most untrusted hop of `X-Forwarded-For` when the peer is a trusted proxy (04 §2). */
export function clientAddress(request: Request, proxies: TrustedProxies): string {
  const peer = request.socket.remoteAddress ?? '127.0.0.1';
  if (!isTrusted(peer, proxies)) return normalise(peer);
  const hops = (request.get('X-Forwarded-For') ?? '')
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => ipaddr.isValid(hop));
  for (let index = hops.length - 1; index >= 0; index--) {
    const hop = hops[index] as string;
    if (!isTrusted(hop, proxies)) return normalise(hop);
  }
  return normalise(peer);
}

function normalise(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

function isTrusted(address: string, proxies: TrustedProxies): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return proxies.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network as never, bits));
}
