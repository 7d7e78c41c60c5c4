import type { VersionStatus } from '#libs/lifecycle';
import type { Dialect } from '#libs/typesystem';

/** How a pipeline node or a template names a template version: by name and exact number, inside the workspace. */
export interface TemplateRef {
  /** The template's name, a folder path; never the surrogate id. */
  id: string;
  version: number;
}

/** A library a template calls as `<@alias.macro/>`. */
export interface TemplateImport extends TemplateRef {
  alias: string;
}

/** One stored template version, as it is rendered. */
export interface PinnedTemplate {
  /** Surrogate id of the template. */
  templateId: string;
  name: string;
  version: number;
  status: VersionStatus;
  dialect: Dialect;
  isLibrary: boolean;
  /** SHA-256 over engine, dialect, is_library, imports and body: what identifies a parsed tree. */
  bodyHash: string;
  body: string;
  imports: readonly TemplateImport[];
}

/** A template with every library it reaches, however deep. */
export interface TemplateClosure {
  template: PinnedTemplate;
  /** By `refKey`. A library that is gone or DISCARDED is absent: rendering then fails, it never guesses. */
  libraries: ReadonlyMap<string, PinnedTemplate>;
}

/** Key of a template version in maps: `id@version`. A name holds no `@`. */
export function refKey({ id, version }: TemplateRef): string {
  return `${id}@${version}`;
}
