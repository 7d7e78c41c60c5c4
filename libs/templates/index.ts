export * from './pinned-template.js';
export * from './reflected.js';
export { TemplateCatalog, type TemplateLookup } from './template-catalog.js';
