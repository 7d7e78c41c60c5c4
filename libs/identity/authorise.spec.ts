import { describe, expect, it } from '@jest/globals';
import { PenstockError, SCOPES, type ActingWorkspace, type Principal, type Scope } from '#libs/kernel';
import { authorise, authoriseInstance, authoriseRequest, authoriseSelf, workspaceOf } from './authorise.js';
import { CAPABILITIES, OPERATIONS, operationRow, type Capability, type OperationId } from './operations.js';

const flags = { author: false, promoter: false, admin: false };
const home: ActingWorkspace = { id: 'w1', name: 'home', flags, superAdmin: false, implicit: false };

function session(workspace: Partial<ActingWorkspace> | null, extra: Partial<Principal> = {}): Principal {
  return {
    userId: 'u1',
    email: 'ada@example.org',
    displayName: 'Ada',
    method: 'session',
    surface: 'session',
    amr: 'pwd',
    sessionId: 's1',
    scopes: [],
    superAdmin: workspace?.superAdmin ?? false,
    mustChangePassword: false,
    correlationId: 'c1',
    ...(workspace ? { workspace: { ...home, ...workspace } } : {}),
    ...extra,
  };
}

const keyFacts = { method: 'api_key', surface: 'api_key', keyId: 'dpk_AAAAAAAAAAAA', sessionId: undefined } as const;
const allFlags = { author: true, promoter: true, admin: true };

/** A user key of someone who may do everything in the pin, so that only the scope decides. */
const userKey = (scope: Scope) => session({ flags: allFlags }, { ...keyFacts, keyKind: 'user', scopes: [scope] });
const endpointKey = session({ flags: allFlags }, { ...keyFacts, keyKind: 'endpoint' });
const serverKey = session({ flags: allFlags }, { ...keyFacts, keyKind: 'server' });
const promotion = session({ flags: allFlags }, { ...keyFacts, method: 'promotion', keyKind: 'server' });

const people: Record<string, { principal: Principal; holds: readonly Capability[] }> = {
  viewer: { principal: session({}), holds: ['self', 'view', 'execute'] },
  author: {
    principal: session({ flags: { ...flags, author: true } }),
    holds: ['self', 'view', 'execute', 'author', 'switch'],
  },
  promoter: {
    principal: session({ flags: { ...flags, promoter: true } }),
    holds: ['self', 'view', 'execute', 'switch', 'promote'],
  },
  'workspace admin': {
    principal: session({ flags: { author: true, promoter: false, admin: true } }),
    holds: ['self', 'view', 'execute', 'author', 'switch', 'promote', 'ws_admin'],
  },
  'super admin': {
    principal: session({ superAdmin: true, implicit: true }),
    holds: ['self', 'view', 'execute', 'author', 'switch', 'promote', 'ws_admin', 'super_admin'],
  },
};

const operations = Object.keys(OPERATIONS) as OperationId[];

function refusal(act: () => unknown): { code: string; details: Record<string, unknown> } | 'allowed' {
  try {
    act();
    return 'allowed';
  } catch (error) {
    if (!(error instanceof PenstockError)) throw error;
    return { code: error.code, details: error.details };
  }
}

const codeOf = (principal: Principal, operation: OperationId) => {
  const judge = operationRow(operation).inNamedWorkspace ? authorise : authoriseRequest;
  const outcome = refusal(() => judge(principal, operation));
  return outcome === 'allowed' ? outcome : outcome.code;
};

describe.each(Object.entries(people))('a session of a %s', (_name, { principal, holds }) => {
  it.each(operations)('%s', (operation) => {
    const { credentials, capability } = operationRow(operation);
    const expected = !credentials.session
      ? credentials.server
        ? 'auth.promotion.key_invalid'
        : 'auth.api_key.missing'
      : holds.includes(capability)
        ? 'allowed'
        : 'auth.role_required';
    expect(codeOf(principal, operation)).toBe(expected);
  });
});

describe.each(SCOPES)('a user key with scope %s', (scope) => {
  it.each(operations)('%s', (operation) => {
    const { credentials } = operationRow(operation);
    const switching = operation === 'workspace.switch';
    const expected = credentials.server
      ? 'auth.promotion.key_invalid'
      : credentials.deployment
        ? 'auth.api_key.missing'
        : !credentials.user
          ? switching
            ? 'workspace.session_required'
            : 'auth.session.required'
          : SCOPES.indexOf(scope) < SCOPES.indexOf(credentials.user)
            ? 'auth.scope.insufficient'
            : 'allowed';
    expect(codeOf(userKey(scope), operation)).toBe(expected);
  });
});

describe('keys that are fenced in', () => {
  it.each(operations)('endpoint and server keys on %s', (operation) => {
    const { credentials } = operationRow(operation);
    const receiver = operation === 'promotion.receive';
    const fence = credentials.deployment ? 'auth.api_key.missing' : 'endpoint.key_kind_refused';
    const forEndpointKey = credentials.endpoint ? 'allowed' : fence;
    expect(codeOf(endpointKey, operation)).toBe(receiver ? 'auth.promotion.key_invalid' : forEndpointKey);
    expect(codeOf(serverKey, operation)).toBe(receiver ? 'auth.promotion.key_invalid' : fence);
    expect(codeOf(promotion, operation)).toBe(receiver ? 'allowed' : 'auth.promotion.key_invalid');
  });

  it('says which fence was hit, because the two keys are mended differently', () => {
    const details = { operation: 'pipeline.read' } as const;
    expect(refusal(() => authorise(endpointKey, details.operation))).toMatchObject({
      details: { reason: 'endpoint_key_off_surface' },
    });
    expect(refusal(() => authorise(serverKey, details.operation))).toMatchObject({
      details: { reason: 'server_key_off_surface' },
    });
  });
});

describe('the order of judgement', () => {
  const powerless = session(null, { ...keyFacts, keyKind: 'user', scopes: ['read'] });

  it('asks for a session before the scope, so a stronger key is never suggested for what no key can do', () => {
    expect(codeOf(powerless, 'pipeline.purge')).toBe('auth.session.required');
  });

  it('judges the scope before the workspace, and the workspace before the capability', () => {
    expect(codeOf(powerless, 'pipeline.create')).toBe('auth.scope.insufficient');
    expect(codeOf(session(null), 'pipeline.create')).toBe('workspace.membership_required');
    expect(codeOf({ ...powerless, scopes: ['author'], workspace: home }, 'pipeline.create')).toBe(
      'auth.key_issuer_role_lost',
    );
  });

  it('tells the operation, what it takes, what is held and where', () => {
    const promoter = session({ flags: { ...flags, promoter: true } });
    expect(refusal(() => authorise(promoter, 'datasource.test'))).toEqual({
      code: 'auth.role_required',
      details: { operation: 'datasource.test', required: 'ws_admin', held: ['promoter'], workspace: 'home' },
    });
  });
});

describe('workspaces in the judgement', () => {
  it('leaves a key whose issuer was removed with nothing, not even the view of a viewer', () => {
    const orphan = session(null, { ...keyFacts, keyKind: 'user', scopes: ['author'] });
    expect(codeOf(orphan, 'pipeline.read')).toBe('auth.key_issuer_role_lost');
    expect(codeOf(session(null, { ...keyFacts, keyKind: 'endpoint' }), 'endpoint.serve')).toBe(
      'auth.key_issuer_role_lost',
    );
  });

  it('judges a named workspace by the flags held there, not by those of the active one', () => {
    const viewerAtHome = session({});
    const elsewhere = { ...home, id: 'w2', name: 'elsewhere', flags: allFlags };
    expect(authorise(viewerAtHome, 'workspace.update', elsewhere)).toBe(elsewhere);
    const adminAtHome = session({ flags: allFlags });
    expect(refusal(() => authorise(adminAtHome, 'workspace.update', { ...elsewhere, flags }))).toMatchObject({
      code: 'auth.role_required',
      details: { workspace: 'elsewhere' },
    });
  });

  it('lets the guard of a door judge only the credential where the request names a workspace', () => {
    expect(() => authoriseRequest(session({}), 'workspace.update')).not.toThrow();
    expect(() => authoriseRequest(session(null), 'workspace.read')).not.toThrow();
    expect(refusal(() => authoriseRequest(userKey('read'), 'workspace.update'))).toMatchObject({
      code: 'auth.scope.insufficient',
    });
  });

  it('keeps operations on oneself and on the instance working without any workspace', () => {
    const stranded = session(null);
    expect(() => authoriseSelf(stranded, 'profile.read')).not.toThrow();
    expect(() => authoriseInstance({ ...stranded, superAdmin: true }, 'workspace.lifecycle')).not.toThrow();
    expect(codeOf(stranded, 'workspace.create')).toBe('auth.role_required');
    expect(refusal(() => workspaceOf(stranded))).toMatchObject({ code: 'workspace.membership_required' });
  });

  it('leaves a super admin the trail of the instance where no workspace is reachable, and nobody else', () => {
    const nowhere = session(null, { superAdmin: true });
    expect(authoriseRequest(nowhere, 'audit.read')).toBeUndefined();
    // The service judges what was asked for: the trail of a workspace needs one.
    expect(refusal(() => authorise(nowhere, 'audit.read'))).toMatchObject({ code: 'workspace.membership_required' });
    expect(refusal(() => authoriseRequest(session(null), 'audit.read'))).toMatchObject({
      code: 'workspace.membership_required',
    });
  });

  it('gives a key of a super admin no instance verb, whoever owns it', () => {
    const key = { ...userKey('author'), superAdmin: false };
    const instanceVerbs = operations.filter((id) => operationRow(id).capability === 'super_admin');
    for (const id of instanceVerbs) expect(codeOf(key, id)).toBe('auth.session.required');
    expect(instanceVerbs.length).toBeGreaterThan(10);
  });
});

it('covers every capability with at least one operation, so that no row of the table is dead', () => {
  const used = new Set(operations.map((id) => operationRow(id).capability));
  expect([...used].sort()).toEqual([...CAPABILITIES].sort());
});
