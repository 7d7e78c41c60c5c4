import type { CatalogueEntry } from './entry.js';

/** Results and published endpoints (contracts 02 §13, 03 §6, §7, §10). */
export const deliveryCodes = {
  'result.execution_not_found': {
    status: 404,
    title: 'There is no such execution that you can see.',
    fix: 'Check the execution id and the workspace you act in.',
  },
  'result.execution_incomplete': {
    status: 409,
    title: 'The execution has not ended yet.',
    fix: 'Wait for its end (watch its events), then read the result.',
  },
  'result.execution_failed': {
    status: 410,
    title: 'The execution failed or was stopped, so there is no result.',
    fix: 'Read the execution for its error, mend the cause and run it again.',
  },
  'result.expired': {
    status: 410,
    title: 'The result is no longer kept.',
    fix: 'Run the pipeline again; ask for a longer result lifetime if you need more time.',
  },
  'result.format_unsupported': {
    status: 400,
    title: 'The result is not available in this format.',
    fix: 'Use "json" or "csv".',
  },
  'result.too_large': {
    status: 500,
    title: 'The result is larger than may be kept.',
    fix: 'Return fewer rows or columns, or write the rows to a datasource instead.',
  },
  'result.storage_unavailable': {
    status: 500,
    title: 'The store of results is not reachable.',
    fix: 'Run it again in a moment; tell the operator if it stays.',
  },
  'endpoint.path_invalid': {
    status: 400,
    title: 'The endpoint path is not acceptable.',
    fix: 'Start with "/", use 1 to 10 segments of lower-case letters, digits, "_", "-" and ".", or {variables}; no trailing slash, 200 characters at most.',
  },
  'endpoint.path_variable_unknown': {
    status: 400,
    title: 'A path variable is not a parameter of the pipeline.',
    fix: 'Name each {variable} after a parameter the pipeline declares.',
  },
  'endpoint.path_conflict': {
    status: 409,
    title: 'Another endpoint already answers requests of this path.',
    fix: 'Choose a path that no existing endpoint can match.',
  },
  'endpoint.pipeline_not_readonly': {
    status: 409,
    alternateStatus: 503,
    title: 'The pipeline changes data, and an endpoint serves reads only.',
    fix: 'Publish a pipeline without DML, DDL and write-back nodes.',
  },
  'endpoint.pipeline_not_released': {
    status: 503,
    title: 'The pipeline of this endpoint has no released version.',
    fix: 'Release the pipeline; the endpoint follows its current version.',
  },
  'endpoint.not_found': {
    status: 404,
    title: 'There is no such endpoint.',
    fix: 'Check the path and the workspace of the key.',
  },
  'endpoint.method_not_allowed': {
    status: 405,
    title: 'The endpoint does not answer this method.',
    fix: 'Use a method of the "Allow" header.',
  },
  'endpoint.not_acceptable': {
    status: 406,
    title: 'The endpoint answers in JSON only, which the request does not accept.',
    fix: 'Accept "application/json"; the rows as CSV can be read from the result of the execution.',
  },
  'endpoint.key_not_bound': {
    status: 403,
    title: 'The API key is not bound to this endpoint.',
    fix: 'Ask a workspace administrator to bind the key to the endpoint.',
  },
  'endpoint.key_kind_refused': {
    status: 403,
    title: 'An API key of this kind cannot be used here.',
    fix: 'Endpoint keys call published endpoints, server keys promote, user keys do the rest.',
  },
  'endpoint.promotion.key_missing': {
    status: 409,
    title: 'The target lacks a key the endpoint is bound to.',
    fix: 'Create the keys named in the details on the target, then promote again.',
  },
  'endpoint.request.invalid': {
    status: 400,
    title: 'A parameter of the request is not valid.',
    fix: 'Correct the parameters listed in the details.',
  },
  'endpoint.request.parameter_unknown': {
    status: 400,
    title: 'The endpoint has no such parameter.',
    fix: 'Use the parameters listed in the details.',
  },
  'endpoint.request.parameter_repeated': {
    status: 400,
    title: 'A parameter is given more than once.',
    fix: 'Give each parameter once.',
  },
  'endpoint.request.value_too_large': {
    status: 400,
    title: 'A parameter value is too long.',
    fix: 'Keep to the length given in the details.',
  },
} satisfies Record<string, CatalogueEntry>;
