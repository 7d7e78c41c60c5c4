import { describe, expect, it } from '@jest/globals';
import { admittedDetails, auditText } from './audit-details.js';
import { AUDIT_EVENTS, type AuditEventName } from './audit-events.js';

describe('details of an audit row', () => {
  it('refuses a name or a key outside the vocabulary, because readers filter by both', () => {
    expect(() => admittedDetails('auth.login.sucess' as AuditEventName, {})).toThrow(TypeError);
    expect(() => admittedDetails('toString' as AuditEventName, {})).toThrow(TypeError);
    expect(() => admittedDetails('auth.logout', { email: 'ada@example.org' })).toThrow(/no detail named email/);
  });

  it.each([
    'password',
    'new_password',
    'API_KEY',
    'client_secret',
    'jdbc_url',
    'set_cookie',
    'token',
    'reset_token_hash',
  ])('refuses %s at any depth: a secret must fail the act, not reach the table', (key) => {
    const hidden = { from: { pool: [{ [key]: 'planted' }] } };
    expect(() => admittedDetails('auth.workspace.updated', hidden)).toThrow(TypeError);
  });

  it('has no event whose own vocabulary would be refused', () => {
    for (const [event, keys] of Object.entries(AUDIT_EVENTS)) {
      const details = Object.fromEntries(keys.map((key) => [key, 'x']));
      expect(() => admittedDetails(event as AuditEventName, details)).not.toThrow();
    }
  });

  it('masks a presented key inside a text, where a key list cannot see it', () => {
    const key = `dpk_${'A'.repeat(12)}.${'B'.repeat(48)}`;
    expect(auditText(`path /x?key=${key}!`)).toBe(`path /x?key=${key.slice(0, 16)}.***!`);
  });

  it('keeps one well-formed line: control characters forge rows in a reader, lone surrogates and NUL break jsonb', () => {
    expect(auditText('a\r\nb\u0000c\u009b31m')).toBe('a b c 31m');
    expect(auditText('x\ud800y')).toBe('x\ufffdy');
  });

  it('cuts at 1 KiB of UTF-8 without splitting a character', () => {
    const cut = auditText('€'.repeat(1000));
    expect(cut).toBe('€'.repeat(341));
    expect(auditText('😀'.repeat(256))).toBe('😀'.repeat(256));
  });

  it('keeps big integers exact and refuses what JSON cannot carry', () => {
    const row = admittedDetails('auth.workspace.stranded_content', { counts: { rows: 9007199254740993n } });
    expect(row).toEqual({ counts: { rows: '9007199254740993' } });
    expect(() => admittedDetails('auth.workspace.stranded_content', { counts: () => 1 })).toThrow(TypeError);
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    expect(() => admittedDetails('auth.workspace.stranded_content', { counts: circular })).toThrow(/too deeply/);
  });
});
