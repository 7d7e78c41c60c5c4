import { networkInterfaces } from 'node:os';
import { parseAddress, type Address } from './address-rules.js';

/** One of our own servers, which nobody may reach by registering it as a datasource. */
export interface OwnService {
  rule: 'metadata_database' | 'redis' | 'management';
  host: string;
  port: number;
  /** Only this database of the server is ours; absent: the whole server. */
  database?: string;
}

/** What somebody wants to dial. Without a database name the whole server counts as wanted. */
export interface Target {
  host: string;
  port: number;
  database?: string;
}

export type Resolve = (host: string) => Promise<readonly Address[]>;

/**
 * Which of our own services a target is; undefined for none. Compares resolved addresses, so another name for the same
 * server does not help, and knows that loopback and the machine's own addresses are one server.
 */
export async function ownServiceAt(
  services: readonly OwnService[],
  target: Target,
  addresses: readonly Address[],
  resolve: Resolve,
): Promise<OwnService | undefined> {
  for (const service of services) {
    if (service.port !== target.port || !sameDatabase(service, target)) continue;
    if (service.host === target.host || meet(await resolve(service.host), addresses)) return service;
  }
  return undefined;
}

function sameDatabase(service: OwnService, target: Target): boolean {
  return service.database === undefined || target.database === undefined || service.database === target.database;
}

function meet(ours: readonly Address[], theirs: readonly Address[]): boolean {
  const known = new Set(ours.map((address) => address.toNormalizedString()));
  if (theirs.some((address) => known.has(address.toNormalizedString()))) return true;
  return ours.some(isThisMachine) && theirs.some(isThisMachine);
}

function isThisMachine(address: Address): boolean {
  if (address.range() === 'loopback' || address.range() === 'unspecified') return true;
  const own = Object.values(networkInterfaces()).flatMap((interfaces) => interfaces ?? []);
  return own.some(({ address: text }) => parseAddress(text).toNormalizedString() === address.toNormalizedString());
}
