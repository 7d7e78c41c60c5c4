import { isDerived, type KeyDefinition } from '../configuration/definition.js';
import { CONFIGURATION_GROUPS, environmentName, REMOVED_KEYS } from '../configuration/table.js';
import { table } from './markdown.js';

const INTRODUCTION = `# Configuration

Generated from the configuration table by \`node scripts/generate-docs.mjs\`; do not edit.

A setting comes from the environment, else from the YAML file that \`DATAPIPELINES_CONFIG_FILE\` names, else from its default. The variable of a key is the key in capitals, \`.\` and \`-\` as \`_\`: \`datapipelines.sse.max-buffer-bytes\` is \`DATAPIPELINES_SSE_MAX_BUFFER_BYTES\`. An empty variable counts as absent. A secret can also be read from a file: \`DATAPIPELINES_JWT_SECRET_FILE=/run/secrets/jwt\`. Lists are YAML sequences, or texts separated by commas. Where a default depends on other settings, \`auto\` asks for it.

At start every mistake is reported at once and the server ends with status 1; an unknown key in the file is a mistake. Values of secrets are never shown.

## Identity providers

\`datapipelines.auth.oidc.providers\` is a list of mappings. In the file:

\`\`\`yaml
datapipelines:
  auth:
    base-url: https://data.example.com
    oidc:
      providers:
        - name: acme
          display-name: Acme
          issuer-uri: https://login.acme.example
          client-id: penstock
          client-secret: the-secret-of-the-client
\`\`\`

In the environment it is the same as JSON, in \`DATAPIPELINES_AUTH_OIDC_PROVIDERS\` or in the file that \`DATAPIPELINES_AUTH_OIDC_PROVIDERS_FILE\` names. Register \`https://data.example.com/login/oauth2/code/acme\` at the provider as the address people come back to.

## What must be set

Nothing, to try it out: without a database the server starts its own PostgreSQL under \`.penstock/\`, keeps what is transient in memory and makes its secrets itself. This embedded mode is refused when \`NODE_ENV=production\`.

With a database (\`DATABASE_URL\`) these are required as well: \`REDIS_URL\`, \`DATAPIPELINES_MASTER_KEY\`, \`DATAPIPELINES_JWT_SECRET\`, and a way to sign in (\`DATAPIPELINES_AUTH_LOCAL_ENABLED=true\`, or an identity provider). A migration (\`npm run migrate\`) needs the database only.`;

/** `docs/configuration.md`: every key with variable, default, bounds and meaning. */
export function renderConfigurationReference(): string {
  const parts = [INTRODUCTION];
  for (const { title, keys } of CONFIGURATION_GROUPS) {
    parts.push(`## ${title}`, table(['Key', 'Default', 'Accepts', 'What it does'], Object.entries(keys).map(row)));
  }
  const removed = Object.entries(REMOVED_KEYS).map(([key, problem]) => [`\`${key}\``, problem]);
  parts.push('## Removed keys', table(['Key', 'Refused, because it'], removed));
  return `${parts.join('\n\n')}\n`;
}

function row([key, definition]: [string, KeyDefinition<unknown>]): string[] {
  const shown = definition.numbered ? `${key}.N` : key;
  return [`\`${shown}\``, defaultOf(definition), acceptsOf(definition), `${definition.about}${otherNames(definition)}`];
}

function acceptsOf({ accepts, secret, numbered }: KeyDefinition<unknown>): string {
  const numbers = numbered ? `N from ${numbered.min} to ${numbered.max}; ` : '';
  return `${numbers}${accepts}${secret ? '; secret' : ''}`;
}

function defaultOf({ default: fallback }: KeyDefinition<unknown>): string {
  if (isDerived(fallback)) return fallback.says;
  if (fallback === undefined || fallback instanceof Map) return '–';
  const text = Array.isArray(fallback) ? fallback.join(',') : String(fallback);
  return text === '' ? '–' : `\`${text}\``;
}

function otherNames({ aliases }: KeyDefinition<unknown>): string {
  const short = aliases.env?.map((name) => `\`${name}\``).join(', ');
  const old = aliases.keys?.map((key) => `\`${key}\` (\`${environmentName(key)}\`)`).join(', ');
  return `${short ? ` Also ${short}.` : ''}${old ? ` Older name: ${old}.` : ''}`;
}
