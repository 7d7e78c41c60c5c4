import { lookup as resolveByName } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { Injectable } from '@nestjs/common';
import { PenstockError } from '#libs/kernel';
import { parseAddress, refusedBy, type Address, type AddressPolicy } from './address-rules.js';
import { HostUnresolved } from './host-unresolved.js';
import { ownServiceAt, type OwnService, type Target } from './own-services.js';

export interface EgressRules extends AddressPolicy {
  services: readonly OwnService[];
}

/** An address that passed; dial this one and not the name, which may mean something else a moment later. */
export interface CheckedAddress {
  address: string;
  family: 4 | 6;
}

export type NameLookup = (host: string) => Promise<readonly { address: string; family: number }[]>;

/** IPv4 first, because servers on `localhost` often listen on it alone. */
const systemLookup: NameLookup = (host) => resolveByName(host, { all: true, order: 'ipv4first' });

/**
 * The one policy of every steerable outbound connection, at save, at test and at each connect (contract 04 §12): our own
 * services, addresses that no datasource has, and the operator's blocks. A host is refused if any of its addresses is.
 */
@Injectable()
export class EgressPolicy {
  readonly #rules: EgressRules;
  readonly #lookup: NameLookup;
  readonly #later: (() => OwnService | undefined)[] = [];

  constructor(rules: EgressRules, lookup: NameLookup = systemLookup) {
    this.#rules = rules;
    this.#lookup = lookup;
  }

  /** A server of ours of which the configuration cannot tell where it is; asked anew for each target. */
  protect(service: () => OwnService | undefined): void {
    this.#later.push(service);
  }

  /**
   * The address to dial.
   *
   * @param target with the database's name where there is one: another database of our own server may be used
   * @throws `datasource.validation.host_forbidden` naming the rule, never the address; {@link HostUnresolved} when the
   *   name means nothing at this moment
   */
  async check(host: string, port: number, target: { database?: string } = {}): Promise<CheckedAddress> {
    const [first] = await this.checkAll(host, port, target);
    if (!first) throw new HostUnresolved(host);
    return first;
  }

  /** As {@link check}, with every address of the host in the order to try. */
  async checkAll(host: string, port: number, target: { database?: string } = {}): Promise<CheckedAddress[]> {
    const addresses = await this.#resolve(host);
    const wanted: Target = { host, port, ...target };
    const resolveOwn = (name: string) => this.#resolveOwn(name);
    const found = this.#later.flatMap((where) => where() ?? []);
    const service = await ownServiceAt([...this.#rules.services, ...found], wanted, addresses, resolveOwn);
    if (service) refuse(service.rule);
    for (const address of addresses) {
      const rule = refusedBy(address, this.#rules);
      if (rule) refuse(rule);
    }
    return addresses.map((address) => ({ address: address.toString(), family: address.kind() === 'ipv6' ? 6 : 4 }));
  }

  /** For a driver that resolves names itself: in place of `dns.lookup`, it yields checked addresses only. */
  lookupFor(port: number, target: { database?: string } = {}): LookupFunction {
    return (host, options, callback) => {
      this.checkAll(host, port, target).then(
        (addresses) => {
          const [first] = addresses;
          if (options.all) callback(null, addresses);
          else if (first) callback(null, first.address, first.family);
        },
        (error: unknown) => callback(error instanceof Error ? error : new HostUnresolved(host, { cause: error }), ''),
      );
    };
  }

  async #resolve(host: string): Promise<readonly Address[]> {
    const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
    if (bare === '' || bare.includes('\0')) throw new HostUnresolved(host);
    let found: readonly { address: string }[];
    try {
      found = await this.#lookup(bare);
    } catch (error) {
      throw new HostUnresolved(host, { cause: error });
    }
    if (found.length === 0) throw new HostUnresolved(host);
    return found.map(({ address }) => parseAddress(address));
  }

  /** A service of ours whose name means nothing at this moment cannot be dialled by anybody either. */
  async #resolveOwn(host: string): Promise<readonly Address[]> {
    try {
      return await this.#resolve(host);
    } catch (error) {
      if (error instanceof HostUnresolved) return [];
      throw error;
    }
  }
}

function refuse(rule: string): never {
  throw new PenstockError('datasource.validation.host_forbidden', { details: { rule } });
}
