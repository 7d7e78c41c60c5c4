import type { JsonObject, Principal } from '#libs/kernel';

import type { DatasourceRecord } from '../datasource.js';

/** Tables of a lake as an operator declares them: a list, or a publisher's manifest and which of it. */
export interface LakeDeclaration {
  /** `{tables}` or `{manifest_url, namespace?}`, as a client would send it. */
  body: JsonObject;
  /** Names of the manifest's tables that are wanted; null = all. */
  only: readonly string[] | null;
}

/** What the lake does for a datasource that comes with its tables; the lake stands above the datasources. */
export abstract class DeclaredTables {
  /** Registers all of them, or none when one of them cannot be read; nothing when the lake has tables already. */
  abstract register(principal: Principal, datasource: DatasourceRecord, declaration: LakeDeclaration): Promise<void>;
}
