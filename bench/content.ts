import type { ApiClient } from '../test/fixtures/api-client.js';

/** Creates a template and releases it. */
export async function releasedTemplate(author: ApiClient, id: string, dialect: string, body: string): Promise<void> {
  const template = { id, dialect, body, display_name: id, description: '' };
  const { body_hash } = await author.data('POST', '/api/v1/templates', template);
  const headers = { 'If-Match': body_hash as string };
  await author.data('POST', '/api/v1/templates/release', { name: id }, { headers });
}

/** Creates a pipeline without parameters and releases it; its id. */
export async function releasedPipeline(author: ApiClient, name: string, nodes: readonly object[]): Promise<string> {
  const document = { name, display_name: name, description: '', parameters: {}, nodes };
  const { id, body_hash } = await author.data('POST', '/api/v1/pipelines', document);
  const headers = { 'If-Match': body_hash as string };
  await author.data('POST', `/api/v1/pipelines/${id}/release`, undefined, { headers });
  return id as string;
}
