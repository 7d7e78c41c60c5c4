import ipaddr from 'ipaddr.js';

/** What shares one budget: an IPv4 address, or the /64 that an IPv6 client owns. A zone (`%eth0`) says nothing. */
export function addressBlock(address: string): string {
  const bare = address.split('%')[0] ?? address;
  if (!ipaddr.IPv6.isValid(bare)) return bare;
  const groups = ipaddr.IPv6.parse(bare).parts.slice(0, 4);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}
