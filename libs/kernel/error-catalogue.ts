import { authCodes } from './catalogue/auth.js';
import { datasourceCodes } from './catalogue/datasource.js';
import { deliveryCodes } from './catalogue/delivery.js';
import type { CatalogueEntry } from './catalogue/entry.js';
import { executionCodes } from './catalogue/execution.js';
import { GRAPHQL_PROTOCOL_CODES } from './catalogue/graphql-protocol.js';
import { pipelineCompositionCodes } from './catalogue/pipeline-composition.js';
import { pipelineDocumentCodes } from './catalogue/pipeline-document.js';
import { pipelineLifecycleCodes } from './catalogue/pipeline-lifecycle.js';
import { playbookCodes } from './catalogue/playbook.js';
import { serverCodes } from './catalogue/server.js';
import { templateCodes } from './catalogue/template.js';
import { workspaceCodes } from './catalogue/workspace.js';

export type { CatalogueEntry } from './catalogue/entry.js';
export { GRAPHQL_PROTOCOL_CODES } from './catalogue/graphql-protocol.js';

/**
 * Every code a client, an event or a log may carry. One table decides status and texts for all doors,
 * and the generated error reference (contract 03 §10).
 */
export const catalogue = {
  ...pipelineDocumentCodes,
  ...pipelineCompositionCodes,
  ...pipelineLifecycleCodes,
  ...executionCodes,
  ...templateCodes,
  ...authCodes,
  ...workspaceCodes,
  ...datasourceCodes,
  ...deliveryCodes,
  ...playbookCodes,
  ...serverCodes,
} satisfies Record<string, CatalogueEntry>;

/** The same table by sections of the reference. */
export const CATALOGUE_SECTIONS: readonly { title: string; codes: Readonly<Record<string, CatalogueEntry>> }[] = [
  { title: 'Requests, GraphQL, limits', codes: serverCodes },
  { title: 'Signing in, keys, users', codes: authCodes },
  { title: 'Workspaces', codes: workspaceCodes },
  { title: 'Pipeline documents', codes: pipelineDocumentCodes },
  { title: 'PIPELINE and CALCULATOR nodes', codes: pipelineCompositionCodes },
  { title: 'Versions, release, import and promotion of pipelines', codes: pipelineLifecycleCodes },
  { title: 'Templates', codes: templateCodes },
  { title: 'Executions', codes: executionCodes },
  { title: 'Results and published endpoints', codes: deliveryCodes },
  { title: 'Datasources, lake tables, learned facts', codes: datasourceCodes },
  { title: 'Playbooks and tasks', codes: playbookCodes },
];

/** What the reference shows: our table, and what GraphQL says in its own words. */
export const REFERENCE_SECTIONS: typeof CATALOGUE_SECTIONS = [
  ...CATALOGUE_SECTIONS,
  { title: 'The GraphQL protocol', codes: GRAPHQL_PROTOCOL_CODES },
];

export type ErrorCode = keyof typeof catalogue;

/** The row of a code, without the literal types of the table. */
export function catalogueEntry(code: ErrorCode): CatalogueEntry {
  return catalogue[code];
}
