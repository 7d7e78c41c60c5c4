/** Why signing in through a provider ended without a session; written to the audit trail, never shown (contract 04 §3). */
export type OidcReason =
  | 'state_mismatch'
  | 'token_invalid'
  | 'email_missing'
  | 'email_unverified'
  | 'provider_unavailable'
  | 'provider_refused';

/** Ends a step of the sign-in; the service turns it into an audit row and `auth.login.oidc_error`. */
export class OidcRefusal extends Error {
  override readonly name = 'OidcRefusal';

  constructor(
    readonly reason: OidcReason,
    options?: { cause?: unknown },
  ) {
    super(reason, options);
  }
}
