export * from './operations.js';
export * from './authorise.js';
export { addressBlock } from './access/address-block.js';
export { AccessTrail } from './access/access-trail.js';
export { Admission } from './access/admission.js';
export { Authenticator } from './access/authenticator.js';
export {
  DEFAULT_WORKSPACE_ID,
  DEMO_WORKSPACE_ID,
  type Membership,
  type WorkspaceRecord,
} from './access/membership.repository.js';
export type { RequestFacts } from './access/request-facts.js';
export type { SessionFacts } from './access/session-authenticator.js';
export { UseStamps } from './access/use-stamps.js';
export { SuperAdminReach } from './access/super-admin-reach.js';
export { WorkspaceDirectory, type Visitor } from './access/workspace-directory.js';
export {
  Departures,
  type DepartureKind,
  type DepartureParticipant,
  type Departing,
} from './administration/departures.js';
export { LocalAccounts, type Minted } from './administration/local-accounts.js';
export { MailLedger, type MailSendView } from './administration/mail-ledger.js';
export { UserDirectory } from './administration/user-directory.js';
export { UserErasure } from './administration/user-erasure.js';
export { UserStanding } from './administration/user-standing.js';
export { IdentitySettings, identitySettings, type IdentityOptions } from './identity-settings.js';
export { IdentityModule } from './identity.module.js';
export { ApiKeyService, type ApiKeyRecord } from './keys/api-key.service.js';
export { KeyBindingWriter } from './keys/key-bindings.js';
export { isKeyId, keyIdOf, mintKey } from './keys/key-format.js';
export type { KeyRequest } from './keys/key-request.js';
export { Invalidations } from './liveness/invalidations.js';
export type { LivenessKind } from './liveness/liveness-cache.js';
export { LastWorkspace } from './login/last-workspace.js';
export { LoginService } from './login/login.service.js';
export type { LoginFacts, LoginOutcome } from './login/sign-in.js';
export { OidcLoginService, type ProviderView } from './oidc/oidc-login.service.js';
export { returnPath } from './oidc/return-path.js';
export { hashSeedPassword } from './passwords/seed-password.js';
export { PasswordReset } from './reset/password-reset.js';
export { CsrfTokens } from './sessions/csrf-tokens.js';
export { SessionIssuer } from './sessions/session-issuer.js';
export { SessionPurge } from './sessions/session-purge.js';
export { SessionService, type SessionView } from './sessions/session.service.js';
export { BootstrapAdmin, type BootstrapOutcome } from './users/bootstrap-admin.js';
export { normalEmail } from './users/email.js';
export { SystemActor } from './users/system-actor.js';
export { lockEmail } from './users/user.repository.js';
export type { AccountView } from './users/account-view.js';
export { UserService, type ActorView, type MeView } from './users/user.service.js';
