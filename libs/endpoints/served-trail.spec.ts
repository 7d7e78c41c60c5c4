import { describe, expect, it } from '@jest/globals';
import type { AuditObserver } from '#libs/audit';
import type { Principal } from '#libs/kernel';
import { ServedTrail } from './served-trail.js';

const KEY = { userId: 'u', keyId: 'k', correlationId: 'c', sourceIp: '192.0.2.1' } as unknown as Principal;

function trail(): { trail: ServedTrail; said: string[] } {
  const said: string[] = [];
  const observer = { observe: (_: unknown, __: unknown, { outcome }: { outcome: string }) => void said.push(outcome) };
  return { trail: new ServedTrail(KEY, 'e', 'x', observer as unknown as AuditObserver), said };
}

const outcomeOf = (entry: { detailsJson: string } | undefined): unknown =>
  entry && (JSON.parse(entry.detailsJson) as { outcome: string }).outcome;

describe('what the trail says of a served call', () => {
  it('is how it ended, with the end itself, when the caller still waits', () => {
    const { trail: served, said } = trail();
    expect(outcomeOf(served.ended('SUCCESS'))).toBe('completed');
    expect(outcomeOf(trail().trail.ended('ABORTED'))).toBe('failed');
    expect(said).toEqual([]);
  });

  it('is that it goes on, and nothing of the end, when the caller was told so before', async () => {
    const { trail: served, said } = trail();
    await served.accepted();
    expect(served.ended('SUCCESS')).toBeUndefined();
    expect(said).toEqual(['accepted']);
  });

  it('is both when the time is over while the end is being written: that write may still be lost', async () => {
    const { trail: served, said } = trail();
    expect(served.ended('SUCCESS')).toBeDefined();
    await served.accepted();
    expect(said).toEqual(['accepted']);
  });
});
