import { PenstockError, SCOPES, type ActingWorkspace, type Principal, type Scope } from '#libs/kernel';
import {
  operationRow,
  type Capability,
  type InstanceOperation,
  type Operation,
  type OperationId,
  type SelfOperation,
} from './operations.js';

/** What the flags of a workspace grant; flags add up (contract 04 §8). */
const GRANTED: Readonly<Record<Capability, (workspace: ActingWorkspace) => boolean>> = {
  self: () => true,
  view: () => true,
  execute: () => true,
  author: ({ flags }) => flags.author || flags.admin,
  switch: ({ flags }) => flags.author || flags.promoter || flags.admin,
  promote: ({ flags }) => flags.promoter || flags.admin,
  ws_admin: ({ flags }) => flags.admin,
  super_admin: () => false,
  fenced: () => false,
};

/** Whether the flags held in a workspace grant a capability; for narrower rules a service judges itself. */
export function holdsCapability(workspace: ActingWorkspace, capability: Capability): boolean {
  return (workspace.superAdmin && capability !== 'fenced') || GRANTED[capability](workspace);
}

/**
 * Judges one operation in one workspace: the principal's own, or the one the request names.
 * Order: kind → session-only → scope → workspace → capability (contract 04 §8).
 *
 * @throws PenstockError the refusal of the first step that fails
 */
export function authorise(
  principal: Principal,
  operation: OperationId,
  workspace: ActingWorkspace | undefined = principal.workspace,
): ActingWorkspace {
  const row = operationRow(operation);
  judgeCredential(principal, operation, row);
  if (!workspace) {
    // A key always has its pin; without one its issuer is no member there any more, which is less than a viewer.
    if (principal.method === 'api_key') refuseCapability(principal, operation, row.capability, undefined);
    throw new PenstockError('workspace.membership_required');
  }
  const granted =
    row.capability === 'fenced' ? principal.method === 'promotion' : holdsCapability(workspace, row.capability);
  if (!granted) refuseCapability(principal, operation, row.capability, workspace);
  return workspace;
}

/** Judges an operation on oneself; it needs no workspace. */
export function authoriseSelf(principal: Principal, operation: SelfOperation): void {
  judgeCredential(principal, operation, operationRow(operation));
}

/** Judges an operation on the instance: super admins only, and it needs no workspace. */
export function authoriseInstance(principal: Principal, operation: InstanceOperation): void {
  judgeCredential(principal, operation, operationRow(operation));
  if (!principal.superAdmin) refuseCapability(principal, operation, 'super_admin', principal.workspace);
}

/**
 * The guard of a door, which knows the operation only as data: judges any row by the rule of its capability. Where the
 * request names a workspace it judges the credential; the service judges the capability in that workspace.
 */
export function authoriseRequest(principal: Principal, operation: OperationId): ActingWorkspace | undefined {
  const row = operationRow(operation);
  const { capability } = row;
  if (row.inNamedWorkspace) judgeCredential(principal, operation, row);
  else if (capability === 'self') authoriseSelf(principal, operation as SelfOperation);
  else if (row.onInstance !== undefined && !principal.workspace && principal.superAdmin) {
    authoriseInstance(principal, row.onInstance as InstanceOperation);
  } else if (capability === 'super_admin') authoriseInstance(principal, operation as InstanceOperation);
  else return authorise(principal, operation);
  return principal.workspace;
}

/** The workspace the principal acts in. @throws `workspace.membership_required` when there is none. */
export function workspaceOf(principal: Principal): ActingWorkspace {
  if (!principal.workspace) throw new PenstockError('workspace.membership_required');
  return principal.workspace;
}

/** Whether one of the scopes reaches the required one: `author ⊃ execute ⊃ read`. */
export function scopeReaches(held: readonly Scope[], required: Scope): boolean {
  const least = SCOPES.indexOf(required);
  return held.some((scope) => SCOPES.indexOf(scope) >= least);
}

function judgeCredential(principal: Principal, operation: OperationId, row: Operation): void {
  const { credentials } = row;
  if (principal.method === 'promotion' || credentials.server) {
    // The receiver answers every other credential, and every other route answers a promotion key, as if it were none.
    if (principal.method !== 'promotion' || !credentials.server) throw new PenstockError('auth.promotion.key_invalid');
    return;
  }
  // No principal of this server is a data plane, whatever it holds.
  if (credentials.deployment) throw new PenstockError('auth.api_key.missing');
  if (principal.method === 'system') return; // the server itself; no credential leads here
  if (principal.method === 'session') {
    if (!credentials.session) throw new PenstockError('auth.api_key.missing');
    return;
  }
  if (principal.keyKind === 'server') refuseKind('server_key_off_surface');
  if (principal.keyKind === 'endpoint') {
    if (!credentials.endpoint) refuseKind('endpoint_key_off_surface');
    return;
  }
  if (!credentials.user) {
    if (operation === 'workspace.switch') throw new PenstockError('workspace.session_required');
    throw new PenstockError('auth.session.required', { details: { operation } });
  }
  if (!scopeReaches(principal.scopes, credentials.user)) {
    throw new PenstockError('auth.scope.insufficient', {
      details: { operation, required: credentials.user, held: [...principal.scopes] },
    });
  }
}

function refuseKind(reason: 'endpoint_key_off_surface' | 'server_key_off_surface'): never {
  throw new PenstockError('endpoint.key_kind_refused', { details: { reason } });
}

function refuseCapability(
  principal: Principal,
  operation: OperationId,
  required: Capability,
  workspace: ActingWorkspace | undefined,
): never {
  const code = principal.method === 'api_key' ? 'auth.key_issuer_role_lost' : 'auth.role_required';
  throw new PenstockError(code, {
    details: {
      operation,
      required,
      held: workspace ? heldFlags(workspace) : [],
      ...(workspace ? { workspace: workspace.name } : {}),
    },
  });
}

function heldFlags({ flags, superAdmin }: ActingWorkspace): string[] {
  const held = (['author', 'promoter', 'admin'] as const).filter((flag) => flags[flag]);
  return superAdmin ? [...held, 'super_admin'] : held;
}
