import { describe, expect, it } from '@jest/globals';
import type { Request } from 'express';
import { addressBlock } from '#libs/identity';
import { clientAddress, parseProxies } from './client-address.js';

const PROXIES = parseProxies(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32']);

function seen(peer: string, forwarded?: string): string {
  const request = { socket: { remoteAddress: peer }, get: () => forwarded } as unknown as Request;
  return clientAddress(request, PROXIES);
}

describe('the address of a client', () => {
  it.each([
    // A stranger's header is a stranger's word.
    ['203.0.113.9', '1.2.3.4', '203.0.113.9'],
    ['10.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    // Only the right-most untrusted hop was written by a proxy of ours; what is left of it is the client's own.
    ['10.0.0.1', '9.9.9.9, 1.2.3.4', '1.2.3.4'],
    ['10.0.0.1', '9.9.9.9, 1.2.3.4, 10.0.0.2', '1.2.3.4'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    // Behind a hop that is no address nothing can be believed.
    ['10.0.0.1', '9.9.9.9, unknown', '10.0.0.1'],
    ['10.0.0.1', '9.9.9.9, 1.2.3, 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '1', '10.0.0.1'],
    ['10.0.0.1', '0x7f.1, ', '10.0.0.1'],
    ['10.0.0.1', '1.2.3.4:5678', '1.2.3.4'],
    ['10.0.0.1', '[2a00::1]:443', '2a00::1'],
    ['::ffff:10.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['::ffff:203.0.113.9', '1.2.3.4', '203.0.113.9'],
    ['2001:db8::5', '2a00:0:0:0::1', '2a00::1'],
  ])('from %s with %p is %s', (peer, forwarded, expected) => {
    expect(seen(peer, forwarded)).toBe(expected);
  });

  it('trusts nobody when no proxy is configured', () => {
    const request = { socket: { remoteAddress: '127.0.0.1' }, get: () => '1.2.3.4' } as unknown as Request;
    expect(clientAddress(request, parseProxies([]))).toBe('127.0.0.1');
  });

  it('gives all addresses of one IPv6 /64 one budget, however they are written', () => {
    const block = addressBlock('2001:db8:0:1:2:3:4:5');
    for (const same of ['2001:db8:0:1::', '2001:0db8::1:ffff:ffff:ffff:ffff', '2001:db8:0:1::9']) expect(addressBlock(same)).toBe(block);
    expect(addressBlock('2001:db8:0:2::9')).not.toBe(block);
    expect(addressBlock('::1')).toBe('0:0:0:0::/64');
    expect(addressBlock('192.0.2.7')).toBe('192.0.2.7');
  }); // prettier-ignore
});
