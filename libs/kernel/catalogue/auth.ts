import type { CatalogueEntry } from './entry.js';

/** Sign-in, sessions, keys, users (contracts 04 §13, 03 §10). */
export const authCodes = {
  'auth.api_key.missing': {
    status: 401,
    title: 'The request carries no credential.',
    fix: 'Sign in, or send an API key in the "DP-API-Key" header.',
  },
  'auth.api_key.invalid': {
    status: 401,
    title: 'The API key is not valid.',
    fix: 'Check that the whole key was copied and that it was not revoked; create a new one if needed.',
  },
  'auth.api_key.expired': {
    status: 401,
    title: 'The API key has expired.',
    fix: 'Create a new key.',
  },
  'auth.api_key.expiry_invalid': {
    status: 400,
    title: 'The expiry of the key is not acceptable.',
    fix: 'Choose a time in the future within the longest lifetime given in the details.',
  },
  'auth.api_key.not_found': {
    status: 404,
    title: 'There is no such API key that you can see.',
    fix: 'Check the key id and the workspace you act in.',
  },
  'auth.session.invalid': {
    status: 401,
    title: 'The session is not valid.',
    fix: 'Sign in again.',
  },
  'auth.session.expired': {
    status: 401,
    title: 'The session has expired.',
    fix: 'Sign in again.',
  },
  'auth.session.required': {
    status: 403,
    title: 'This operation needs a signed-in person; API keys cannot do it.',
    fix: 'Sign in to the console and do it there.',
  },
  'auth.login.bad_credentials': {
    status: 401,
    title: 'The e-mail address or the password is wrong.',
    fix: 'Check both and try again; after several failures the account is locked for a while.',
  },
  'auth.login.domain_not_allowed': {
    status: 403,
    alternateStatus: 400,
    title: 'The domain of this e-mail address is not allowed here.',
    fix: 'Use an address of an allowed domain, or ask the operator to add the domain.',
  },
  'auth.login.user_inactive': {
    status: 403,
    title: 'The account is deactivated.',
    fix: 'Ask an administrator to activate it.',
  },
  'auth.login.locked': {
    status: 403,
    title: 'The account is locked after too many failed attempts.',
    fix: 'Wait until the lock ends or ask an administrator to unlock it.',
  },
  'auth.login.identity_mismatch': {
    status: 403,
    title: 'The identity of the provider does not belong to this account.',
    fix: 'Sign in with the identity first used, or ask an administrator to reset the link.',
  },
  'auth.login.oidc_error': {
    status: 500,
    title: 'Signing in through the identity provider failed.',
    fix: 'Try again; if it stays, the operator should check the provider configuration.',
  },
  'auth.promotion.key_invalid': {
    status: 401,
    title: 'The promotion key is missing or not valid.',
    fix: 'Configure a server key of the target deployment on the sending one.',
  },
  'auth.scope.insufficient': {
    status: 403,
    title: 'The scope of the API key does not cover this operation.',
    fix: 'Use a key with the scope named in the details.',
  },
  'auth.scope.unknown': {
    status: 400,
    title: 'A requested scope does not exist.',
    fix: 'Use the scopes "read", "execute" and "author".',
  },
  'auth.key_scope_unavailable': {
    status: 400,
    title: 'This scope is never given to a key.',
    fix: 'Use the scopes "read", "execute" and "author"; administration needs a signed-in person.',
  },
  'auth.key_workspace_inactive': {
    status: 404,
    title: 'The workspace of this API key is not active.',
    fix: 'Ask an administrator to reactivate the workspace, or use a key of another one.',
  },
  'auth.key_issuer_role_lost': {
    status: 403,
    title: 'The owner of the API key no longer has the role this operation needs.',
    fix: 'Ask a workspace administrator to give the owner the role, or use a key of somebody who has it.',
  },
  'auth.role_required': {
    status: 403,
    title: 'Your role in this workspace does not allow this operation.',
    fix: 'Ask a workspace administrator for the role named in the details.',
  },
  'auth.csrf.invalid': {
    status: 403,
    title: 'The request could not be proved to come from the console.',
    fix: 'Send the value of the "dp_csrf" cookie in the "DP-CSRF-Token" header; in the browser, reload the page.',
  },
  'auth.password.change_required': {
    status: 403,
    title: 'The password must be changed before anything else.',
    fix: 'Choose a new password, then go on.',
  },
  'auth.password.policy_violation': {
    status: 400,
    title: 'The new password does not meet the rules.',
    fix: 'Choose a password that meets the rule named in the details.',
  },
  'auth.password.current_invalid': {
    status: 400,
    title: 'The current password is wrong.',
    fix: 'Type the password you signed in with.',
  },
  'auth.password.reset_invalid': {
    status: 400,
    title: 'The reset link is not valid any more.',
    fix: 'Ask for a new link and use it before it expires; every link works once.',
  },
  'auth.password.no_local_account': {
    status: 409,
    title: 'This account has no password here.',
    fix: 'Sign in through the identity provider, or ask an administrator for a local password.',
  },
  'auth.user.email_invalid': {
    status: 400,
    title: 'The e-mail address is not valid.',
    fix: 'Correct the address.',
  },
  'auth.user.email_taken': {
    status: 409,
    title: 'Another account has this e-mail address.',
    fix: 'Use the existing account, or another address.',
  },
  'auth.user.last_super_admin': {
    status: 409,
    title: 'This is the last active super administrator.',
    fix: 'Make somebody else super administrator first.',
  },
  'auth.user.not_found': {
    status: 404,
    title: 'There is no such user that you can see.',
    fix: 'Check the id or the e-mail address.',
  },
} satisfies Record<string, CatalogueEntry>;
