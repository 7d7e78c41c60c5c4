import { idOrName, named, optional, text, whole } from '../arguments.js';
import { list, listResult, result, STAMPS, TEXT, WHOLE, YES_OR_NO } from '../result-schemas.js';
import { declare } from '../tool.js';

const path = named('Path below /api/x, such as "/sales/{region}/orders"; each {variable} is a declared parameter.');
const endpoint = result(
  {
    id: TEXT,
    path: TEXT,
    url: TEXT,
    pipeline_id: TEXT,
    pipeline_name: TEXT,
    timeout_seconds: WHOLE,
    description: TEXT,
    enabled: YES_OR_NO,
    path_variables: list(TEXT),
    ...STAMPS,
  },
  'path',
  'url',
  'pipeline_id',
);

export const ENDPOINT_TOOLS = {
  create: declare({
    name: 'endpoints_create',
    title: 'Publish a pipeline as a URL',
    description:
      'Publishes a pipeline at GET /api/x<path>. Only pipelines that write nothing can be published; the current release is what is served, so until people release one it answers 503.',
    operation: 'endpoint.publish',
    arguments: {
      path,
      pipeline: idOrName('Id (a UUID) or full name of the pipeline.'),
      timeout_seconds: optional(
        whole('Seconds a caller waits before the answer becomes a link to the running result.'),
      ),
      description: optional(text('What the endpoint answers, up to 10,000 characters.', { maxLength: 10_000 })),
    },
    result: endpoint,
    target: 'path',
    effect: 'creates',
  }),
  remove: declare({
    name: 'endpoints_delete',
    title: 'Take an endpoint down',
    description: 'Removes a published path; whoever calls it gets 404 from then on. Bindings of keys to the path stay.',
    operation: 'endpoint.unpublish',
    arguments: { path },
    result: result({ path: TEXT, deleted: YES_OR_NO }, 'path', 'deleted'),
    target: 'path',
    effect: 'replaces',
  }),
  list: declare({
    name: 'endpoints_list',
    title: 'List published endpoints',
    description:
      'Every published path of the workspace with its URL, the pipeline it serves and whether it is enabled.',
    operation: 'endpoint.read',
    arguments: {},
    result: listResult(endpoint),
    wrappedAs: 'items',
    effect: 'reads',
  }),
  get: declare({
    name: 'endpoints_get',
    title: 'Read a published endpoint',
    description: 'One published path: its URL, pipeline, time limit and path variables.',
    operation: 'endpoint.read',
    arguments: { path },
    result: endpoint,
    target: 'path',
    effect: 'reads',
  }),
};
