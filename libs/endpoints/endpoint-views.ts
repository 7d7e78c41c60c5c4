import { toWireStamp } from '#libs/kernel';
import type { KeyBinding } from './key-binding.repository.js';
import { ENDPOINT_ROOT } from './path-pattern.js';
import type { PublishedEndpoint } from './published-endpoint.js';

/** A published endpoint on the wire. */
export interface EndpointView {
  id: string;
  /** The pattern, without `/api/x`. */
  path: string;
  /** Where to call it; absolute when the base URL is configured. */
  url: string;
  pipeline_id: string;
  pipeline_name: string;
  timeout_seconds: number;
  description: string;
  enabled: boolean;
  path_variables: readonly string[];
  created_by: string;
  created_at: string;
  updated_at: string;
}

export interface KeyBindingView {
  path_prefix: string;
  api_key_id: string;
  api_key_name: string;
  created_by: string;
  created_at: string;
}

export function endpointView(endpoint: PublishedEndpoint, baseUrl: string): EndpointView {
  return {
    id: endpoint.id,
    path: endpoint.pattern.text,
    url: `${baseUrl}${ENDPOINT_ROOT}${endpoint.pattern.text}`,
    pipeline_id: endpoint.pipelineId,
    pipeline_name: endpoint.pipelineName,
    timeout_seconds: endpoint.timeoutSeconds,
    description: endpoint.description,
    enabled: endpoint.isEnabled,
    path_variables: endpoint.pattern.variables,
    created_by: endpoint.createdBy,
    created_at: toWireStamp(endpoint.createdAt),
    updated_at: toWireStamp(endpoint.updatedAt),
  };
}

export function keyBindingView(binding: KeyBinding): KeyBindingView {
  return {
    path_prefix: binding.pathPrefix,
    api_key_id: binding.apiKeyId,
    api_key_name: binding.keyName,
    created_by: binding.createdBy,
    created_at: toWireStamp(binding.createdAt),
  };
}
