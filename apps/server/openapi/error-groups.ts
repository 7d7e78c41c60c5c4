import { catalogue, catalogueEntry, type ErrorCode } from '#libs/kernel';

/** Every code below a prefix that is ever answered, such as all of `pipeline.validation.`. */
export function codesBelow(prefix: string): ErrorCode[] {
  return (Object.keys(catalogue) as ErrorCode[]).filter(
    (code) => code.startsWith(prefix) && catalogueEntry(code).status != null,
  );
}

/** What writing a pipeline document may be refused for: its own rules, and those of the templates it renders. */
export const DOCUMENT_REFUSALS: readonly ErrorCode[] = [
  ...codesBelow('pipeline.validation.'),
  'pipeline.execution.invalid_parameter_type',
  'template.validation.parameter_interpolated',
];

export const TEMPLATE_REFUSALS: readonly ErrorCode[] = codesBelow('template.validation.');

/** What a run may end with, where a caller waits for it. */
export const RUN_FAILURES: readonly ErrorCode[] = [
  ...codesBelow('pipeline.execution.').filter((code) => (catalogueEntry(code).status ?? 0) >= 500),
  ...codesBelow('pipeline.node.'),
  ...codesBelow('pipeline.staging.'),
  'result.too_large',
  'result.storage_unavailable',
];
