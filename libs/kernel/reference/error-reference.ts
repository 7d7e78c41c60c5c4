import { authCodes } from '../catalogue/auth.js';
import { datasourceCodes } from '../catalogue/datasource.js';
import { deliveryCodes } from '../catalogue/delivery.js';
import type { CatalogueEntry } from '../catalogue/entry.js';
import { executionCodes } from '../catalogue/execution.js';
import { pipelineCompositionCodes } from '../catalogue/pipeline-composition.js';
import { pipelineDocumentCodes } from '../catalogue/pipeline-document.js';
import { pipelineLifecycleCodes } from '../catalogue/pipeline-lifecycle.js';
import { serverCodes } from '../catalogue/server.js';
import { templateCodes } from '../catalogue/template.js';
import { workspaceCodes } from '../catalogue/workspace.js';

const SECTIONS: readonly { title: string; codes: Readonly<Record<string, CatalogueEntry>> }[] = [
  { title: 'Requests, GraphQL, limits', codes: serverCodes },
  { title: 'Signing in, keys, users', codes: authCodes },
  { title: 'Workspaces', codes: workspaceCodes },
  { title: 'Pipeline documents', codes: pipelineDocumentCodes },
  { title: 'PIPELINE and CALCULATOR nodes', codes: pipelineCompositionCodes },
  { title: 'Versions, release, import, promotion of pipelines', codes: pipelineLifecycleCodes },
  { title: 'Templates', codes: templateCodes },
  { title: 'Executions', codes: executionCodes },
  { title: 'Results and published endpoints', codes: deliveryCodes },
  { title: 'Datasources, lake tables, learned facts', codes: datasourceCodes },
];

/** `docs/generated/errors.md`: every code with its status, what happened and how to mend it; the anchor is the code. */
export function renderErrorCatalogue(): string {
  const parts = [
    '# Errors',
    'Generated from the error catalogue by `node scripts/generate-docs.mjs`; do not edit.',
    'Every refusal carries one of these codes, on REST in `error.code`, over GraphQL in `extensions.code`, in events and in execution records. A code without a status is recorded or sent as a warning; it is never the status of a response.',
  ];
  for (const { title, codes } of SECTIONS) {
    parts.push(`## ${title}`, ...Object.entries(codes).map(([code, entry]) => section(code, entry)));
  }
  return `${parts.join('\n\n')}\n`;
}

function section(code: string, entry: CatalogueEntry): string {
  const status = [entry.status ?? 'none', ...(entry.alternateStatus ? [entry.alternateStatus] : [])].join(' or ');
  return `<a id="${code}"></a>\n### \`${code}\`\n\nStatus: ${status}. ${entry.title}\n\n${entry.fix}`;
}
