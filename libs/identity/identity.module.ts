import { Module } from '@nestjs/common';
import { AuditModule } from '#libs/audit';
import { EgressModule } from '#libs/egress';
import { Configuration } from '#libs/kernel';
import { MailModule } from '#libs/mail';
import { AccessTrail } from './access/access-trail.js';
import { Admission } from './access/admission.js';
import { Authenticator } from './access/authenticator.js';
import { KeyAuthenticator } from './access/key-authenticator.js';
import { KeyJudge } from './access/key-judge.js';
import { MembershipRepository } from './access/membership.repository.js';
import { PromotionAuthenticator } from './access/promotion-authenticator.js';
import { SessionAuthenticator } from './access/session-authenticator.js';
import { UseStamps } from './access/use-stamps.js';
import { SuperAdminReach } from './access/super-admin-reach.js';
import { WorkspaceDirectory } from './access/workspace-directory.js';
import { AdministrationRepository } from './administration/administration.repository.js';
import { Departures } from './administration/departures.js';
import { HeldPeople } from './administration/held-people.js';
import { LocalAccounts } from './administration/local-accounts.js';
import { MailLedger } from './administration/mail-ledger.js';
import { UserDirectory } from './administration/user-directory.js';
import { UserErasure } from './administration/user-erasure.js';
import { UserStanding } from './administration/user-standing.js';
import { WrongKeyBudget } from './access/wrong-key-budget.js';
import { IdentitySettings, identitySettings } from './identity-settings.js';
import { ApiKeyRepository } from './keys/api-key.repository.js';
import { ApiKeyService } from './keys/api-key.service.js';
import { Invalidations } from './liveness/invalidations.js';
import { LivenessCache } from './liveness/liveness-cache.js';
import { GhostLockouts } from './login/ghost-lockouts.js';
import { LastWorkspace } from './login/last-workspace.js';
import { LoginRefusals } from './login/login-refusals.js';
import { LoginService } from './login/login.service.js';
import { PasswordChange } from './login/password-change.js';
import { PasswordJudge } from './login/password-judge.js';
import { SignIn } from './login/sign-in.js';
import { WorkspaceEntry } from './login/workspace-entry.js';
import { OidcAccountRepository } from './oidc/oidc-accounts.repository.js';
import { OidcAccounts } from './oidc/oidc-accounts.js';
import { OidcLoginService } from './oidc/oidc-login.service.js';
import { OidcTransactions } from './oidc/oidc-transaction.js';
import { SecretHasher } from './passwords/secret-hasher.js';
import { PasswordReset } from './reset/password-reset.js';
import { ResetTokenRepository } from './reset/reset-token.repository.js';
import { AccessEnds } from './sessions/access-ends.js';
import { CsrfTokens } from './sessions/csrf-tokens.js';
import { SessionIssuer } from './sessions/session-issuer.js';
import { SessionJwt } from './sessions/session-jwt.js';
import { SessionPurge } from './sessions/session-purge.js';
import { SessionRepository } from './sessions/session.repository.js';
import { SessionService } from './sessions/session.service.js';
import { BootstrapAdmin } from './users/bootstrap-admin.js';
import { BootstrapGrant } from './users/bootstrap-grant.js';
import { ProfileRepository } from './users/profile.repository.js';
import { SystemActor } from './users/system-actor.js';
import { UserRepository } from './users/user.repository.js';
import { UserService } from './users/user.service.js';

/** What doors and other families use; the rest stays inside. */
const faces = [
  AccessTrail,
  Admission,
  ApiKeyService,
  Authenticator,
  BootstrapAdmin,
  CsrfTokens,
  Departures,
  IdentitySettings,
  Invalidations,
  LastWorkspace,
  LocalAccounts,
  LoginService,
  MailLedger,
  OidcLoginService,
  PasswordReset,
  SessionIssuer,
  SessionPurge,
  SessionService,
  SuperAdminReach,
  SystemActor,
  UseStamps,
  UserDirectory,
  UserErasure,
  UserService,
  UserStanding,
  WorkspaceDirectory,
];

/**
 * Users, sessions and API keys. Needs `Configuration`, `Database`, `TransientStore`, `InvalidationBus`, `Clock` and `Logger`
 * of the infrastructure and the port `KeyBindingWriter` from the wiring.
 */
@Module({
  imports: [AuditModule, EgressModule, MailModule],
  providers: [
    { provide: IdentitySettings, useFactory: identitySettings, inject: [Configuration] },
    ...faces.filter((face) => face !== IdentitySettings),
    AccessEnds,
    AdministrationRepository,
    ApiKeyRepository,
    BootstrapGrant,
    GhostLockouts,
    HeldPeople,
    KeyAuthenticator,
    KeyJudge,
    LivenessCache,
    LoginRefusals,
    MembershipRepository,
    OidcAccountRepository,
    OidcAccounts,
    OidcTransactions,
    PasswordChange,
    PasswordJudge,
    ProfileRepository,
    PromotionAuthenticator,
    ResetTokenRepository,
    SecretHasher,
    SessionAuthenticator,
    SessionJwt,
    SessionRepository,
    SignIn,
    UserRepository,
    WorkspaceEntry,
    WrongKeyBudget,
  ],
  exports: faces,
})
export class IdentityModule {}
