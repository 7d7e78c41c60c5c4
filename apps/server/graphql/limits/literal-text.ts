import { visit, type DocumentNode } from 'graphql';
import { PenstockError } from '#libs/kernel';

/**
 * Refuses U+0000 in the literals of a document. The scan of the body cannot see it there: in JSON the escape of the
 * document is two plain characters.
 *
 * @throws the generic 400 with `reason: malformed_json`, as for a body (03 §1)
 */
export function refuseNulInLiterals(document: DocumentNode): void {
  visit(document, {
    StringValue({ value }) {
      if (!value.includes('\u0000')) return;
      throw new PenstockError('pipeline.execution.invalid_parameter_type', {
        message: 'A text in the document holds U+0000, which no text here may.',
        details: { field: 'query', reason: 'malformed_json' },
      });
    },
  });
}
