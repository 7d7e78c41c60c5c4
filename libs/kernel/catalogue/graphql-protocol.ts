import type { CatalogueEntry } from './entry.js';

/**
 * Failures of the GraphQL protocol itself, under the names its clients know (contract 03 §12). They are no codes of ours:
 * only `extensions.code` of a GraphQL answer carries them, and the reference tells of them.
 */
export const GRAPHQL_PROTOCOL_CODES = {
  GRAPHQL_PARSE_FAILED: {
    status: 400,
    title: 'The document is no GraphQL, or has more tokens than are read.',
    fix: 'Correct the syntax of the document.',
  },
  GRAPHQL_VALIDATION_FAILED: {
    status: 400,
    title: 'The document asks for what the schema does not have.',
    fix: 'Compare the document with the schema.',
  },
  BAD_USER_INPUT: {
    status: 400,
    title: 'A variable does not have its declared type.',
    fix: 'Correct the variables of the operation.',
  },
  PERSISTED_QUERY_NOT_FOUND: {
    status: 400,
    title: 'The server knows no document of this hash, or no longer.',
    fix: 'Send the document once, together with its hash.',
  },
  PERSISTED_QUERY_NOT_SUPPORTED: {
    status: 400,
    title: 'The server keeps no documents.',
    fix: 'Send the document itself instead of its hash.',
  },
  OPERATION_RESOLUTION_FAILURE: {
    status: 400,
    title: 'The document does not say which operation is meant.',
    fix: 'Name one operation of the document in “operationName”.',
  },
} as const satisfies Record<string, CatalogueEntry>;
