import { BuildInfo } from '../health/build-info.js';
import { declaredRoutes } from './declared-routes.js';
import type { JsonSchema } from './json-schema.js';
import { openapiDocument } from './openapi-document.js';

/** `docs/generated/openapi.json`. */
export async function renderOpenapi(): Promise<JsonSchema> {
  return openapiDocument(await declaredRoutes(), new BuildInfo().version);
}
