/** What a resource URI addresses. */
export type Resource =
  | { kind: 'doc'; name: string }
  | { kind: 'pipeline'; id: string; version?: number; parameters?: true }
  | { kind: 'template'; name: string; version?: number }
  | { kind: 'datasources' }
  | { kind: 'datasource'; name: string }
  | { kind: 'execution'; id: string; events?: true };

export const SCHEME = 'datapipelines://';

const VERSION = '(?:/versions/(?<version>[1-9][0-9]{0,8}))?';
const PIPELINE = new RegExp(`^pipelines/(?<id>[^/]+)(?:${VERSION}|(?<parameters>/parameters))$`);
const TEMPLATE = new RegExp(`^templates/(?<name>.+?)${VERSION}$`);
const DATASOURCE = /^datasources\/(?<name>[^/]+)$/;
const EXECUTION = /^executions\/(?<id>[^/]+)(?<events>\/events)?$/;
const DOC = /^docs\/skill(?:\/(?<name>[^/]+))?$/;

/** Undefined for what addresses nothing. Names of templates may stand with slashes or percent-encoded. */
export function parseResourceUri(uri: string): Resource | undefined {
  if (!uri.startsWith(SCHEME) || uri.length > 1000) return undefined;
  const path = uri.slice(SCHEME.length);
  if (path === 'datasources') return { kind: 'datasources' };
  const doc = DOC.exec(path)?.groups;
  if (doc) return { kind: 'doc', name: doc['name'] ?? 'skill' };
  const pipeline = PIPELINE.exec(path)?.groups;
  if (pipeline) {
    const { id, version, parameters } = pipeline;
    return { kind: 'pipeline', id: id ?? '', ...numbered(version), ...(parameters ? { parameters: true } : {}) };
  }
  const template = TEMPLATE.exec(path)?.groups;
  if (template) return named('template', template['name'], numbered(template['version']));
  const datasource = DATASOURCE.exec(path)?.groups;
  if (datasource) return named('datasource', datasource['name'], {});
  const execution = EXECUTION.exec(path)?.groups;
  if (execution) {
    return { kind: 'execution', id: execution['id'] ?? '', ...(execution['events'] ? { events: true } : {}) };
  }
  return undefined;
}

function numbered(version: string | undefined): { version?: number } {
  return version === undefined ? {} : { version: Number(version) };
}

function named<K extends 'template' | 'datasource'>(
  kind: K,
  encoded: string | undefined,
  more: { version?: number },
): { kind: K; name: string; version?: number } | undefined {
  try {
    const name = decodeURIComponent(encoded ?? '');
    // No name holds U+0000, and the database does not even take the question.
    return name.includes('\u0000') ? undefined : { kind, name, ...more };
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** How a template's name stands in a URI. */
export function templateUri(name: string): string {
  return `${SCHEME}templates/${encodeURIComponent(name)}`;
}
