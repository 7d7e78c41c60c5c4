import { Injectable } from '@nestjs/common';
import { ExactNumber, momentOf, type JsonObject, type JsonValue } from '#libs/kernel';
import { SemanticsService } from '#libs/semantics';
import { invalidParams } from '../../protocol/rpc-error.js';
import { serve, type ToolFamily } from '../tool.js';
import { SEMANTIC_TOOLS } from './semantic-declarations.js';

/** What is learned about datasources. Verifying is for people. */
@Injectable()
export class SemanticTools implements ToolFamily {
  readonly tools = [
    serve(SEMANTIC_TOOLS.record, ({ principal, signal }, { datasource, ...fact }) =>
      this.semantics.record(principal, datasource, bodyOf(fact), signal),
    ),
    serve(SEMANTIC_TOOLS.list, async ({ principal }, { datasource, ...query }) => {
      if (query.since !== undefined && momentOf(query.since) === undefined) {
        throw invalidParams('“since” must be a moment such as 2026-03-01T07:05:09Z.', { argument: 'since' });
      }
      return this.semantics.list(principal, datasource, query);
    }),
    serve(SEMANTIC_TOOLS.retire, ({ principal }, { id, reason }) => this.semantics.retire(principal, id, { reason })),
  ];

  constructor(private readonly semantics: SemanticsService) {}
}

/** As `readJson` would give it: the service reads every member itself. */
function bodyOf(given: Readonly<Record<string, unknown>>): JsonObject {
  const body = Object.create(null) as JsonObject;
  for (const [key, value] of Object.entries(given)) {
    body[key] = (typeof value === 'number' ? new ExactNumber(String(value)) : value) as JsonValue;
  }
  return body;
}
