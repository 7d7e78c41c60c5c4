import type { DatasourceRecord } from '#libs/datasources';
import type { TemplateLookup } from '#libs/templates';

/** What the saving workspace sees at this moment; a datasource or template of another one is simply unknown. */
export interface Registry {
  datasources: ReadonlyMap<string, Pick<DatasourceRecord, 'dialect' | 'isReadonly'>>;
  /** By `refKey`. */
  templates: ReadonlyMap<string, TemplateLookup>;
}
