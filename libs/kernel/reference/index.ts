export { renderErrorCatalogue } from './error-reference.js';
export { renderConfigurationReference } from './configuration-reference.js';
export { renderEnvExample } from './env-example.js';
