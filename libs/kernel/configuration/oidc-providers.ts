import { z } from 'zod';
import type { Parsed } from './definition.js';

/** An identity provider as the operator registered it (contract 04 §3). */
export interface OidcProviderSetting {
  /** In URLs and in `users.provider`. */
  name: string;
  /** Empty: the provider is switched off. */
  clientId: string;
  clientSecret: string;
  issuerUri: string;
  displayName: string;
  /** Believe an address although the provider does not say whether it verified it. */
  trustEmailWithoutVerifiedClaim: boolean;
  /** Of ID tokens; a token signed otherwise is refused. */
  signingAlgorithms: readonly string[];
}

/** What a provider may sign with where its entry does not say (04 §3). */
export const SIGNING_ALGORITHMS: readonly string[] = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
/** Asymmetric all of them: with a shared secret whoever verifies could also sign. */
const KNOWN_ALGORITHMS = [...SIGNING_ALGORITHMS, 'RS384', 'RS512', 'PS384', 'PS512', 'ES384', 'ES512'];

const MAX_PROVIDERS = 20;
/** They mean something else in `users.provider`. */
const RESERVED = new Set(['bootstrap', 'local', 'system', 'erased']);
/** Of Entra: every tenant of the world signs in there, and one tenant's addresses are not another's. */
const MULTI_TENANT = /\/(common|organizations|consumers)(\/|$)/i;

const record = z.strictObject({
  name: z.string(),
  'client-id': z.string().default(''),
  'client-secret': z.string().default(''),
  'issuer-uri': z.string(),
  'display-name': z.string().trim().max(64).optional(),
  'trust-email-without-verified-claim': z.union([z.boolean(), z.enum(['true', 'false'])]).default(false),
  'signing-algorithms': z.array(z.enum(KNOWN_ALGORITHMS)).nonempty().optional(),
});

export const OIDC_PROVIDERS = {
  accepts: 'YAML sequence of mappings, or the same as JSON',
  parse(text: string): Parsed<readonly OidcProviderSetting[]> {
    const read = parsed(text);
    if (!Array.isArray(read)) return { problem: 'must be a list of providers, in the environment as JSON' };
    if (read.length > MAX_PROVIDERS) return { problem: `must be at most ${MAX_PROVIDERS} providers` };
    const value: OidcProviderSetting[] = [];
    for (const [index, entry] of read.entries()) {
      const admitted = admit(entry);
      if ('problem' in admitted) return { problem: `entry ${index + 1} ${admitted.problem}` };
      if (value.some(({ name }) => name === admitted.value.name)) {
        return { problem: `names ${admitted.value.name} twice` };
      }
      value.push(admitted.value);
    }
    return { value };
  },
};

/** Those people can sign in through: a blank client id switches one off. */
export function usableProviders(providers: readonly OidcProviderSetting[]): readonly OidcProviderSetting[] {
  return providers.filter(({ clientId }) => clientId !== '');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function admit(entry: unknown): Parsed<OidcProviderSetting> {
  const read = record.safeParse(entry);
  if (!read.success) {
    const [issue] = read.error.issues;
    const field = issue?.code === 'unrecognized_keys' ? issue.keys.join(', ') : issue?.path.join('.');
    return { problem: `has a wrong or unknown field${field ? `: ${field}` : ''}` };
  }
  const { name, 'client-id': clientId, 'client-secret': clientSecret, 'issuer-uri': issuerUri } = read.data;
  if (!/^[a-z0-9-]{1,64}$/.test(name)) return { problem: 'needs a name of lower-case letters, digits and "-"' };
  if (RESERVED.has(name)) return { problem: `must not be named ${name}, which has a meaning of its own` };
  const problem = issuerProblem(issuerUri);
  if (problem) return { problem };
  if (clientId.trim() !== '' && clientSecret === '') return { problem: 'needs a client-secret' };
  return {
    value: {
      name,
      clientId: clientId.trim(),
      clientSecret,
      issuerUri,
      displayName: read.data['display-name'] || name,
      trustEmailWithoutVerifiedClaim: String(read.data['trust-email-without-verified-claim']) === 'true',
      signingAlgorithms: read.data['signing-algorithms'] ?? SIGNING_ALGORITHMS,
    },
  };
}

function issuerProblem(issuerUri: string): string | undefined {
  const url = URL.canParse(issuerUri) ? new URL(issuerUri) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'needs an https issuer-uri';
  if (url.username || url.password || url.search || url.hash) return 'has more than an address in its issuer-uri';
  if (MULTI_TENANT.test(url.pathname)) {
    return 'names a multi-tenant issuer-uri, where any organisation could claim an address; use the one of your tenant';
  }
  return undefined;
}
