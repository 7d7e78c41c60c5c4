import type { KeyDefinition } from './definition.js';
import { datasourceKeys, pipelineKeys, templateKeys } from './keys/content.js';
import { endpointKeys, limitKeys, resultKeys, streamKeys } from './keys/delivery.js';
import { executorKeys, recordKeys, stagingKeys } from './keys/executions.js';
import { apiKeyKeys, governanceKeys, signInKeys } from './keys/identity.js';
import { lakeKeys } from './keys/lake.js';
import { mailKeys } from './keys/mail.js';
import { semanticsKeys } from './keys/semantics.js';
import { deploymentKeys, graphqlKeys, loggingKeys, serverKeys, tracingKeys, webKeys } from './keys/server.js';
import { databaseKeys, redisKeys, secretKeys } from './keys/stores.js';

/** Every key there is (contract 03 §11). A key is declared here once and read somewhere; an unread one is a fault. */
export const CONFIGURATION_KEYS = {
  ...databaseKeys,
  ...redisKeys,
  ...secretKeys,
  ...deploymentKeys,
  ...serverKeys,
  ...webKeys,
  ...loggingKeys,
  ...tracingKeys,
  ...signInKeys,
  ...apiKeyKeys,
  ...governanceKeys,
  ...mailKeys,
  ...executorKeys,
  ...stagingKeys,
  ...recordKeys,
  ...resultKeys,
  ...streamKeys,
  ...limitKeys,
  ...endpointKeys,
  ...templateKeys,
  ...pipelineKeys,
  ...datasourceKeys,
  ...lakeKeys,
  ...semanticsKeys,
  ...graphqlKeys,
};

export type ConfigurationKey = keyof typeof CONFIGURATION_KEYS;

/** The type of a key's value: number, boolean, one of its words, text, list. */
export type ConfigurationValue<K extends ConfigurationKey> =
  (typeof CONFIGURATION_KEYS)[K] extends KeyDefinition<infer T> ? T : never;

/** The same table by groups of the reference. */
export const CONFIGURATION_GROUPS: readonly {
  title: string;
  keys: Readonly<Record<string, KeyDefinition<unknown>>>;
}[] = [
  { title: 'Metadata database', keys: databaseKeys },
  { title: 'Redis and the transient store', keys: redisKeys },
  { title: 'Keys and secrets', keys: secretKeys },
  { title: 'Deployment', keys: deploymentKeys },
  { title: 'Server', keys: serverKeys },
  { title: 'Web', keys: webKeys },
  { title: 'Logging', keys: loggingKeys },
  { title: 'Tracing', keys: tracingKeys },
  { title: 'Signing in', keys: signInKeys },
  { title: 'API keys', keys: apiKeyKeys },
  { title: 'Workspaces and audit', keys: governanceKeys },
  { title: 'Mail', keys: mailKeys },
  { title: 'Executor', keys: executorKeys },
  { title: 'Staging', keys: stagingKeys },
  { title: 'Execution records', keys: recordKeys },
  { title: 'Results', keys: resultKeys },
  { title: 'Event streams', keys: streamKeys },
  { title: 'Limits', keys: limitKeys },
  { title: 'Published endpoints', keys: endpointKeys },
  { title: 'Templates', keys: templateKeys },
  { title: 'Pipelines and organisation values', keys: pipelineKeys },
  { title: 'Datasources', keys: datasourceKeys },
  { title: 'Lake', keys: lakeKeys },
  { title: 'Learned facts', keys: semanticsKeys },
  { title: 'GraphQL', keys: graphqlKeys },
];

/** Keys of earlier products that are refused by name, with what to do instead. */
export const REMOVED_KEYS: Readonly<Record<string, string>> = {
  'datapipelines.workspaces.provisioning-mode': 'was removed: workspaces are created by super administrators',
  'datapipelines.workspaces.open-join': 'was removed: members are added by workspace administrators',
};

/** The environment variable of a key: `datapipelines.sse.max-buffer-bytes` → `DATAPIPELINES_SSE_MAX_BUFFER_BYTES`. */
export function environmentName(key: string): string {
  return key.toUpperCase().replace(/[.-]/g, '_');
}

/** The table row of a key without its value type. */
export function keyDefinition(key: ConfigurationKey): KeyDefinition<unknown> {
  return CONFIGURATION_KEYS[key];
}

export const ALL_KEYS = Object.keys(CONFIGURATION_KEYS) as ConfigurationKey[];
