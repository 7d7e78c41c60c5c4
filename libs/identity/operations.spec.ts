import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { ActingWorkspace, MemberFlags } from '#libs/kernel';
import { holdsCapability } from './authorise.js';
import { CAPABILITIES, OPERATIONS, operationRow, type Capability, type OperationId } from './operations.js';

const document = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

/** Cells of the table under a heading, header and rule lines dropped. */
function tableUnder(heading: string): string[][] {
  const section = document.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

const bare = (cell = '') => cell.replaceAll('`', '');

/** The credentials column in the notation of the document: `S Ux E own V`. */
function notation(id: OperationId): string {
  const { session, user, endpoint, server, deployment } = operationRow(id).credentials;
  const least = user && `U${user === 'execute' ? 'x' : user[0]}`;
  return [session && 'S', least, endpoint && `E ${endpoint}`, server && 'V', deployment && 'D']
    .filter(Boolean)
    .join(' ');
}

describe('the operation table and its document', () => {
  const rows = tableUnder('Operations');

  it('names the same operations, so that no rule exists in one place only', () => {
    const documented = rows.map(([id]) => bare(id));
    expect(new Set(documented).size).toBe(documented.length);
    expect([...documented].sort()).toEqual(Object.keys(OPERATIONS).sort());
  });

  it.each(rows.map(([id, , , , credentials, capability]) => [bare(id), credentials, capability]))(
    '%s accepts %s and needs %s in both',
    (id, credentials, capability) => {
      expect(notation(id as OperationId)).toBe(credentials);
      expect(operationRow(id as OperationId).capability).toBe(capability);
    },
  );

  it('agrees on what is judged in the workspace that a request names', () => {
    for (const [id, , , , , , narrower] of rows) {
      const named = operationRow(bare(id) as OperationId).inNamedWorkspace ?? false;
      expect([id, narrower?.includes('judged in the named workspace')]).toEqual([id, named]);
    }
  });

  it('has every row complete, since a shifted cell would silently compare the wrong columns', () => {
    for (const row of rows) {
      expect(row).toHaveLength(7);
      expect(row[1]).toMatch(/^(yes|no)$/);
    }
  });

  it('lets no key reach what only a super admin may do: a key is never one', () => {
    for (const id of Object.keys(OPERATIONS) as OperationId[]) {
      const { credentials, capability } = operationRow(id);
      if (capability === 'super_admin') expect(credentials).toEqual({ session: true });
    }
  });
});

describe('the capability table and its document', () => {
  const rows = tableUnder('Capabilities');
  const none: MemberFlags = { author: false, promoter: false, admin: false };
  const holders: Record<string, { flags: MemberFlags; superAdmin: boolean }> = {
    viewer: { flags: none, superAdmin: false },
    author: { flags: { ...none, author: true }, superAdmin: false },
    promoter: { flags: { ...none, promoter: true }, superAdmin: false },
    'ws admin': { flags: { ...none, author: true, admin: true }, superAdmin: false },
    'super admin': { flags: none, superAdmin: true },
  };

  it('covers every capability but the fenced one, which nobody holds', () => {
    expect(rows.map(([capability]) => bare(capability))).toEqual(CAPABILITIES.filter((name) => name !== 'fenced'));
    const everything: ActingWorkspace = {
      id: 'w',
      name: 'w',
      flags: { author: true, promoter: true, admin: true },
      superAdmin: true,
      implicit: false,
    };
    expect(holdsCapability(everything, 'fenced')).toBe(false);
  });

  it.each(rows)('%s', (capability, ...cells) => {
    Object.values(holders).forEach((holder, column) => {
      const workspace = { id: 'w', name: 'w', implicit: false, ...holder };
      expect(holdsCapability(workspace, bare(capability) as Capability)).toBe(cells[column] === 'yes');
    });
  });

  it('adds flags up: a promoter who authors has both powers and no third', () => {
    const both = {
      id: 'w',
      name: 'w',
      implicit: false,
      superAdmin: false,
      flags: { ...none, author: true, promoter: true },
    };
    const held = CAPABILITIES.filter((capability) => holdsCapability(both, capability));
    expect(held).toEqual(['self', 'view', 'execute', 'author', 'switch', 'promote']);
  });
});
