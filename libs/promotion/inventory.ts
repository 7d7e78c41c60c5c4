import type { EndpointFile } from '#libs/endpoints';

/** A version that a pointer names. */
export interface CurrentEntry {
  name: string;
  current_version: number;
  body_hash: string;
}

/** What a deployment has and is, as one that promotes to it has to know (contract 05 §13). */
export interface Inventory {
  /** Its label; nothing is decided by it. */
  deployment: string;
  authoring_enabled: boolean;
  workspace: string;
  pipelines: readonly CurrentEntry[];
  templates: readonly CurrentEntry[];
  /** Names of the datasources the workspace sees. */
  datasources: readonly string[];
  endpoints: readonly EndpointFile[];
  /** Names of the live endpoint keys of the workspace. */
  endpoint_keys: readonly string[];
}
