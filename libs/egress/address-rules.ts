import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressBlock = readonly [Address, number];

/** Why an address is refused; named to the caller, who is never told the address. */
export type AddressRule =
  'link_local' | 'multicast' | 'unspecified' | 'cloud_metadata' | 'loopback' | 'denied' | 'not_allowed';

/** Addresses on which clouds hand out credentials and settings, beside those in the link-local range. */
const CLOUD_METADATA = ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '192.0.0.192', '168.63.129.16'].map(
  (text) => ipaddr.parse(text).toNormalizedString(),
);

/** IPv6 prefixes that carry an IPv4 address for a translator or a tunnel, and the byte it starts at. */
const CARRIERS: readonly { block: AddressBlock; at: number }[] = [
  { block: ipaddr.parseCIDR('64:ff9b::/96'), at: 12 },
  { block: ipaddr.parseCIDR('64:ff9b:1::/48'), at: 12 },
  { block: ipaddr.parseCIDR('2002::/16'), at: 2 },
  { block: ipaddr.parseCIDR('::/96'), at: 12 },
];

const RANGES: Readonly<Record<string, AddressRule>> = {
  linkLocal: 'link_local',
  multicast: 'multicast',
  broadcast: 'multicast',
  unspecified: 'unspecified',
};

export interface AddressPolicy {
  refuseLoopback: boolean;
  /** Empty: every block that nothing else refuses. */
  allow: readonly AddressBlock[];
  deny: readonly AddressBlock[];
}

/** The rule that refuses an address; undefined when it may be dialled (contract 04 §12 ②–④). */
export function refusedBy(address: Address, policy: AddressPolicy): AddressRule | undefined {
  const readings = [address, ...carriedAddresses(address)];
  for (const reading of readings) {
    if (CLOUD_METADATA.includes(reading.toNormalizedString())) return 'cloud_metadata';
    const rule = RANGES[reading.range()];
    if (rule) return rule;
    if (policy.refuseLoopback && reading.range() === 'loopback') return 'loopback';
    if (isIn(reading, policy.deny)) return 'denied';
  }
  if (policy.allow.length > 0 && !isIn(address, policy.allow)) return 'not_allowed';
  return undefined;
}

/** An address in its plainest form: IPv4 where IPv6 only wraps it. */
export function parseAddress(text: string): Address {
  return ipaddr.process(text.split('%')[0] ?? text);
}

export function parseBlocks(blocks: readonly string[]): AddressBlock[] {
  return blocks.map((block) => ipaddr.parseCIDR(block));
}

/** An IPv6 literal that a translator turns into IPv4 must not be a way around the IPv4 rules. */
function carriedAddresses(address: Address): Address[] {
  if (address.kind() !== 'ipv6') return [];
  const bytes = address.toByteArray();
  return CARRIERS.filter(({ block }) => isIn(address, [block]) && address.range() !== 'loopback').flatMap(({ at }) => {
    const carried = ipaddr.fromByteArray(bytes.slice(at, at + 4));
    // `::` itself is judged as what it is.
    return carried.toString() === '0.0.0.0' ? [] : [carried];
  });
}

function isIn(address: Address, blocks: readonly AddressBlock[]): boolean {
  return blocks.some(([network, bits]) => {
    if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits);
    return network instanceof ipaddr.IPv6 && address.match(network, bits);
  });
}
