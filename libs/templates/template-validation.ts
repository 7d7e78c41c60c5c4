import { Injectable } from '@nestjs/common';
import type { Failure } from '#libs/kernel';
import type { Queryable } from '#libs/persistence';
import { refKey, type PinnedTemplate } from './pinned-template.js';
import { TemplateRenderer } from './rendering/template-renderer.js';
import { TemplateCatalog } from './template-catalog.js';
import type { TemplateFields } from './template-fields.js';
import { judgeImports } from './template-imports.js';

/** The rules of a template's body and imports (contract 05 §8). Parses, never renders. */
@Injectable()
export class TemplateValidation {
  constructor(
    private readonly catalog: TemplateCatalog,
    private readonly renderer: TemplateRenderer,
  ) {}

  /**
   * Everything wrong with a template about to be stored as `self` (`name@version`), in the order of the contract:
   * source and tree, library shape, imports. An empty body is `readTemplateFields`' to refuse.
   */
  async judge(
    workspaceId: string,
    self: string,
    fields: Pick<TemplateFields, 'body' | 'imports' | 'isLibrary'>,
    q?: Queryable,
  ): Promise<Failure[]> {
    const [source, imports] = await Promise.all([
      fields.body === '' ? [] : this.#source(fields),
      this.#imports(workspaceId, self, fields.imports, q),
    ]);
    return [...source, ...imports];
  }

  async #source(fields: Pick<TemplateFields, 'body' | 'isLibrary'>): Promise<Failure[]> {
    const inspected = await this.renderer.inspect(fields.body);
    if (!inspected.ok) {
      return inspected.problems.map(({ code, message, line, column, excerpt, details }) => ({
        code: `template.validation.${code}`,
        path: 'body',
        message,
        details: { ...details, line, column, ...(excerpt === undefined ? {} : { excerpt }) },
      }));
    }
    if (!fields.isLibrary || inspected.isLibrary) return [];
    return [
      {
        code: 'template.validation.is_library_without_macros',
        path: 'body',
        message:
          'A library holds macros and functions only, at least one: move everything else out, or drop "is_library".',
      },
    ];
  }

  async #imports(
    workspaceId: string,
    self: string,
    imports: TemplateFields['imports'],
    q?: Queryable,
  ): Promise<Failure[]> {
    if (imports.length === 0) return [];
    const closures = await this.catalog.load(workspaceId, imports, q);
    const loaded = new Map<string, PinnedTemplate>();
    for (const { template, libraries } of closures.values()) {
      loaded.set(refKey({ id: template.name, version: template.version }), template);
      for (const [key, library] of libraries) loaded.set(key, library);
    }
    return judgeImports(self, imports, loaded);
  }
}
