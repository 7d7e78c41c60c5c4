import { REFERENCE_SECTIONS, type CatalogueEntry } from '../error-catalogue.js';

/** `docs/generated/errors.md`: every code with its status, what happened and how to mend it; the anchor is the code. */
export function renderErrorCatalogue(): string {
  const parts = [
    '# Errors',
    'Generated from the error catalogue by `node scripts/generate-docs.mjs`; do not edit.',
    'Every refusal carries one of these codes, on REST in `error.code`, over GraphQL in `extensions.code`, in events and in execution records. A code without a status is recorded or sent as a warning; it is never the status of a response.',
  ];
  for (const { title, codes } of REFERENCE_SECTIONS) {
    parts.push(`## ${title}`, ...Object.entries(codes).map(([code, entry]) => section(code, entry)));
  }
  return `${parts.join('\n\n')}\n`;
}

function section(code: string, entry: CatalogueEntry): string {
  const status = [entry.status ?? 'none', ...(entry.alternateStatus ? [entry.alternateStatus] : [])].join(' or ');
  return `<a id="${code}"></a>\n### \`${code}\`\n\nStatus: ${status}. ${entry.title}\n\n${entry.fix}`;
}
