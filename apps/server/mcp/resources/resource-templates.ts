import { SCHEME } from './resource-uri.js';

const JSON_TYPE = 'application/json';

/** What `resources/templates/list` answers. */
export const RESOURCE_TEMPLATES = [
  template('docs/skill/{doc}', 'page', 'A page of the documentation for agents.', 'text/markdown'),
  template('pipelines/{id}', 'pipeline', 'A pipeline in its working version.'),
  template('pipelines/{id}/versions/{version}', 'pipeline-version', 'One version of a pipeline.'),
  template('pipelines/{id}/parameters', 'pipeline-parameters', 'The parameters a pipeline declares.'),
  template('templates/{id}', 'template', 'A template in its working version; the id may stand percent-encoded.'),
  template('templates/{id}/versions/{version}', 'template-version', 'One version of a template.'),
  template('datasources/{name}', 'datasource', 'A datasource without its secrets.'),
  template('executions/{id}', 'execution', 'A run with statistics and error.'),
  template('executions/{id}/events', 'execution-events', 'The events of a run so far.'),
];

function template(path: string, name: string, description: string, mimeType = JSON_TYPE) {
  return { uriTemplate: `${SCHEME}${path}`, name, description, mimeType };
}
