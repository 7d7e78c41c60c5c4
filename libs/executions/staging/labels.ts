import { PenstockError } from '#libs/kernel';
import { findInvalidStagedLabel, isStagedLabel, quoteIdentifier } from '#libs/typesystem';

/** Labels of a staged table or a write-back are never renamed; a bad one is `pipeline.staging.invalid_column_name`. */
export function refuseBadLabels(labels: readonly string[]): void {
  const invalid = findInvalidStagedLabel(labels);
  if (!invalid) return;
  const label = invalid.label.slice(0, 64);
  throw new PenstockError('pipeline.staging.invalid_column_name', {
    message: isStagedLabel(invalid.label)
      ? `Two columns are called "${label}". Give one of them another label with AS.`
      : `Column ${invalid.ordinal + 1} has the label "${label}". Give it a plain one with AS: letters, digits and _.`,
    details: { label, ordinal: invalid.ordinal },
  });
}

export function quoteName(name: string): string {
  return quoteIdentifier('DUCKDB', name);
}
