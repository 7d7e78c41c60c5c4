import { choice, flag, integer, list, optionalText, records, secret, type DefaultFacts } from '../definition.js';
import { ARGON2_HASH, CIDR, DOMAIN, EMAIL, ORIGIN, SCOPE } from '../forms.js';
import { OIDC_PROVIDERS, type OidcProviderSetting } from '../oidc-providers.js';
import { isHardened } from './server.js';

function secureByDefault(facts: DefaultFacts): boolean {
  if (isHardened(facts)) return true;
  const baseUrl = facts.value('datapipelines.auth.base-url');
  return typeof baseUrl === 'string' ? baseUrl.startsWith('https:') : !facts.embedded;
}

export const signInKeys = {
  'datapipelines.auth.base-url': optionalText({
    form: ORIGIN,
    about: 'Address under which people and agents reach this server; links, cookies and CORS follow it.',
  }),
  'datapipelines.auth.trusted-proxies': list({
    form: CIDR,
    about: 'Proxies whose `X-Forwarded-For` is believed.',
  }),
  'datapipelines.auth.jwt.ttl-hours': integer({
    default: 8,
    min: 1,
    max: 720,
    about: 'Hours until a session ends, used or not.',
  }),
  'datapipelines.auth.session.idle-minutes': integer({
    default: 120,
    min: 0,
    max: 43_200,
    about: 'Minutes without a request after which a session ends, and its open streams with it; 0 switches this off.',
  }),
  'datapipelines.auth.session.max-per-user': integer({
    default: 20,
    min: 1,
    max: 1000,
    about: 'Sessions a person may have at once; a further one ends the oldest.',
  }),
  'datapipelines.auth.cookie-secure': flag({
    default: {
      says: 'true if hardened or the base URL is https; without a base URL, true unless embedded',
      from: secureByDefault,
    },
    about: 'Whether cookies are sent over https only.',
  }),
  'datapipelines.auth.session.host-prefix': flag({
    default: {
      says: 'as `auth.cookie-secure`',
      from: (facts) => facts.value('datapipelines.auth.cookie-secure') === true,
    },
    about: 'Whether cookies carry the `__Host-` prefix, which ties them to this host.',
  }),
  'datapipelines.auth.allow-local-only': flag({
    default: false,
    about: 'Hardened posture: accept local passwords as the only way to sign in.',
  }),
  'datapipelines.auth.bootstrap-admin-email': optionalText({
    form: EMAIL,
    about: 'The account created with this address becomes super administrator, once.',
  }),
  'datapipelines.auth.oidc.providers': records<OidcProviderSetting>({
    ...OIDC_PROVIDERS,
    about:
      'Identity providers people sign in through (OpenID Connect): `name`, `client-id`, `client-secret`, `issuer-uri`, and optionally `display-name`, `trust-email-without-verified-claim` and `signing-algorithms` (of ID tokens: RS256, PS256, ES256 and EdDSA, or those listed here; RS, PS and ES 384 and 512 are known too).',
  }),
  'datapipelines.auth.oidc.relink-policy': choice(['verified-email', 'never'], {
    default: 'verified-email',
    about: 'Whether somebody whose verified address is known from another provider may sign in through a new one.',
  }),
  'datapipelines.auth.allowlist.domains': list({
    form: DOMAIN,
    about: 'E-mail domains of people who may sign in through a provider or be invited; empty admits all.',
  }),
  'datapipelines.auth.local.enabled': flag({
    default: { says: 'true in embedded mode, else false', from: (facts) => facts.embedded },
    about: 'Sign in with e-mail address and password.',
  }),
  'datapipelines.auth.local.bootstrap-password': secret({
    about: 'First password of the bootstrap administrator; must be changed at the first sign-in.',
  }),
  'datapipelines.auth.local.bootstrap-password-hash': secret({
    form: ARGON2_HASH,
    about:
      'The same as a hash, so that no password stands in the configuration: `printf %s "$PASSWORD" | npm run --silent hash-password`, in the image `node dist/apps/server/hash-password.js`.',
  }),
  'datapipelines.auth.local.one-time-password-hours': integer({
    default: 72,
    min: 1,
    max: 720,
    about: 'Hours a one-time password can be used.',
  }),
  'datapipelines.auth.local.lockout.max-failures': integer({
    default: 5,
    min: 1,
    max: 100,
    about: 'Wrong passwords in a row that lock an account.',
  }),
  'datapipelines.auth.local.lockout.duration-minutes': integer({
    default: 15,
    min: 1,
    max: 1440,
    about: 'Minutes a locked account stays locked.',
  }),
  'datapipelines.auth.local.self-service-reset': flag({
    default: true,
    about: 'Whether people may ask for a reset link of their local password; works once mail is set up.',
  }),
  'datapipelines.auth.local.reset-token-minutes': integer({
    default: 10,
    min: 1,
    max: 1440,
    about: 'Minutes a reset link can be used.',
  }),
  'datapipelines.auth.local.reset-max-per-hour': integer({
    default: 3,
    min: 1,
    max: 100,
    about: 'Reset links an account is sent within an hour; what is asked for beyond is ignored.',
  }),
  'datapipelines.auth.rate-limit.login-per-minute': integer({
    default: 10,
    min: 1,
    max: 10_000,
    about: 'Requests for signing in, the page of the form among them, a minute from one address (IPv6: one /64).',
  }),
};

export const apiKeyKeys = {
  'datapipelines.auth.api-keys.cache-ttl-seconds': integer({
    default: 60,
    min: 1,
    max: 3600,
    about: 'Seconds a verified key, session or membership is believed without asking the database.',
  }),
  'datapipelines.auth.api-keys.default-scopes': list({
    default: ['read'],
    form: SCOPE,
    about: 'Scopes of a new user key that names none.',
  }),
  'datapipelines.auth.api-keys.max-lifetime-days': integer({
    default: 0,
    min: 0,
    max: 3650,
    about: 'Longest lifetime of a key in days; 0 allows keys that never expire.',
  }),
};

export const governanceKeys = {
  'datapipelines.workspaces.member-datasources-enabled': flag({
    default: true,
    about: 'Whether workspace administrators may register datasources of their own.',
  }),
  'datapipelines.audit.retention-days': integer({
    default: 365,
    min: 1,
    max: 36_500,
    about: 'Days audit rows are kept.',
  }),
  'datapipelines.privacy.user-erasure': choice(['deactivate', 'anonymise'], {
    default: 'deactivate',
    about: 'What erasing a person does: close the account, or also remove name, address, memberships and keys.',
  }),
};
