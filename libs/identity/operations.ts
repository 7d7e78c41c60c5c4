import type { Scope } from '#libs/kernel';

/**
 * What a member may do in a workspace, lowest first. `self` and `super_admin` need no workspace; `fenced` is judged by
 * the credential alone.
 */
export const CAPABILITIES = [
  'self',
  'view',
  'execute',
  'author',
  'switch',
  'promote',
  'ws_admin',
  'super_admin',
  'fenced',
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** Which credentials an operation accepts at all. Absent means refused. */
export interface AcceptedCredentials {
  session: boolean;
  /** The least scope of a user key. */
  user?: Scope;
  /** Endpoint keys: on runs the key itself started, or on the published tree. */
  endpoint?: 'own' | 'serve';
  server?: boolean;
  /** The signed token of a data plane, which names the deployment and nobody else. */
  deployment?: boolean;
}

export interface Operation<C extends Capability = Capability> {
  credentials: AcceptedCredentials;
  capability: C;
  /** The request names a workspace: the capability is judged by the flags held there, not in the active one. */
  inNamedWorkspace?: true;
  /** The verb on the instance that an argument makes of it: super admins keep it where no workspace is reachable. */
  onInstance?: string;
}

const sessionOnly = <C extends Capability>(capability: C): Operation<C> => ({
  credentials: { session: true },
  capability,
});

const sessionOrKey = <C extends Capability>(user: Scope, capability: C): Operation<C> => ({
  credentials: { session: true, user },
  capability,
});

const inNamedWorkspace = <C extends Capability>(user: Scope, capability: C): Operation<C> => ({
  ...sessionOrKey(user, capability),
  inNamedWorkspace: true,
});

/** The operation table (contract 04 §8); docs/operations.md is its readable twin and a test compares the two. */
export const OPERATIONS = {
  'profile.read': sessionOrKey('read', 'self'),
  'profile.preference': sessionOrKey('read', 'self'),
  'profile.password': sessionOnly('self'),
  'session.own': sessionOnly('self'),

  'workspace.list_own': sessionOrKey('read', 'self'),
  'workspace.switch': sessionOnly('self'),
  'workspace.read': inNamedWorkspace('read', 'view'),
  'workspace.update': inNamedWorkspace('author', 'ws_admin'),
  'workspace.members.manage': inNamedWorkspace('author', 'ws_admin'),
  'workspace.create': sessionOnly('super_admin'),
  'workspace.lifecycle': sessionOnly('super_admin'),
  'workspace.delete': sessionOnly('super_admin'),

  'api_key.own': sessionOrKey('read', 'self'),
  'api_key.create': sessionOnly('author'),
  'api_key.manage': sessionOnly('ws_admin'),
  'server_key.create': sessionOnly('super_admin'),
  'api_key.bind': sessionOrKey('author', 'author'),

  'user.read': sessionOnly('super_admin'),
  'user.manage': sessionOnly('super_admin'),
  'user.local': sessionOnly('super_admin'),
  'user.identity_reset': sessionOnly('super_admin'),
  'user.erase': sessionOnly('super_admin'),
  'user.sessions': sessionOnly('super_admin'),

  'audit.read': { ...sessionOnly('ws_admin'), onInstance: 'audit.read_instance' },
  'audit.read_instance': sessionOnly('super_admin'),
  'mail.read': sessionOnly('super_admin'),
  'system.read': sessionOnly('super_admin'),

  'pipeline.read': sessionOrKey('read', 'view'),
  'template.read': sessionOrKey('read', 'view'),
  'pipeline.import': sessionOrKey('author', 'promote'),
  'template.import': sessionOrKey('author', 'promote'),
  'pipeline.create': sessionOrKey('author', 'author'),
  'pipeline.update': sessionOrKey('author', 'author'),
  'template.create': sessionOrKey('author', 'author'),
  'template.update': sessionOrKey('author', 'author'),
  'pipeline.validate': sessionOrKey('author', 'author'),
  'template.validate': sessionOrKey('author', 'author'),
  'template.render': sessionOrKey('author', 'author'),
  'template.purge_draft': sessionOrKey('author', 'author'),
  'pipeline.discard': sessionOnly('author'),
  'pipeline.restore': sessionOnly('author'),
  'pipeline.purge': sessionOnly('author'),
  'template.discard': sessionOnly('author'),
  'template.restore': sessionOnly('author'),
  'template.purge': sessionOnly('author'),
  'pipeline.release': sessionOrKey('author', 'promote'),
  'template.release': sessionOrKey('author', 'promote'),
  'pipeline.switch': sessionOnly('switch'),
  'template.switch': sessionOnly('switch'),

  'pipeline.execute': sessionOrKey('execute', 'execute'),
  'pipeline.run_checks': sessionOrKey('execute', 'execute'),
  'pipeline.execute_node': { credentials: { session: false, user: 'author' }, capability: 'execute' },
  'execution.read': { credentials: { session: true, user: 'read', endpoint: 'own' }, capability: 'view' },
  'execution.result.read': { credentials: { session: true, user: 'read', endpoint: 'own' }, capability: 'view' },
  'execution.cancel': sessionOrKey('execute', 'execute'),

  'datasource.read': sessionOrKey('read', 'view'),
  'datasource.introspect': sessionOrKey('author', 'view'),
  'datasource.probe': sessionOrKey('author', 'author'),
  'datasource.test': sessionOrKey('author', 'ws_admin'),
  'datasource.manage': sessionOrKey('author', 'ws_admin'),
  'datasource.manage_instance': sessionOnly('super_admin'),
  'datasource.grant': sessionOnly('super_admin'),
  'lake_table.manage': sessionOrKey('author', 'author'),

  'endpoint.read': sessionOrKey('read', 'view'),
  'endpoint.publish': sessionOrKey('author', 'author'),
  'endpoint.unpublish': sessionOrKey('author', 'author'),
  'endpoint.serve': { credentials: { session: false, user: 'execute', endpoint: 'serve' }, capability: 'execute' },

  'semantic.read': sessionOrKey('read', 'view'),
  'semantic.record': sessionOrKey('author', 'author'),
  'semantic.retire': sessionOrKey('author', 'author'),
  'semantic.verify': sessionOnly('author'),
  'reference.read': sessionOrKey('read', 'self'),

  'promotion.read': sessionOnly('switch'),
  'promotion.promote': sessionOnly('promote'),
  'promotion.receive': { credentials: { session: false, server: true }, capability: 'fenced', inNamedWorkspace: true },

  'dataplane.exchange': { credentials: { session: false, deployment: true }, capability: 'fenced' },
  'dataplane.open': sessionOnly('view'),
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;

type OperationsWith<C extends Capability> = {
  [Id in OperationId]: (typeof OPERATIONS)[Id]['capability'] extends C ? Id : never;
}[OperationId];

/** Operations on oneself: no workspace is asked for. */
export type SelfOperation = OperationsWith<'self'>;
/** Operations on the instance: a super admin's, no workspace is asked for. */
export type InstanceOperation = OperationsWith<'super_admin'>;

const table: Readonly<Record<OperationId, Operation>> = OPERATIONS;

/** The row of an operation, with every field of {@link Operation}. */
export function operationRow(id: OperationId): Operation {
  return table[id];
}
