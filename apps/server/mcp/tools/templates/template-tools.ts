import { Injectable } from '@nestjs/common';
import { Configuration, type Principal } from '#libs/kernel';
import {
  TemplateAuthoring,
  TemplateLifecycle,
  TemplatePreview,
  TemplateReading,
  type TemplateSummary,
  type TemplateView,
} from '#libs/templates';
import type { ArgumentsOf } from '../arguments.js';
import { ListedEntries } from '../listed-entries.js';
import { pageLimit } from '../page-limit.js';
import { serve, type ToolFamily } from '../tool.js';
import { TEMPLATE_TOOLS } from './template-declarations.js';

/** Templates: reading, writing drafts, rendering, taking back what is one's own. */
@Injectable()
export class TemplateTools implements ToolFamily {
  readonly tools = [
    serve(TEMPLATE_TOOLS.list, ({ principal }, given) => this.#list(principal, given)),
    serve(TEMPLATE_TOOLS.get, ({ principal }, { id, version }) => this.reading.read(principal, id, version)),
    serve(TEMPLATE_TOOLS.usedBy, async ({ principal }, { id, version }) => {
      const { references, pipeline_count } = await this.reading.usedBy(principal, id, version);
      return { references, pipeline_count };
    }),
    serve(TEMPLATE_TOOLS.create, async ({ principal }, { confirm_new_root, ...template }) =>
      saved(await this.authoring.create(principal, template, { confirmNewRoot: confirm_new_root === true })),
    ),
    serve(TEMPLATE_TOOLS.update, async ({ principal }, { expected_hash, ...template }) =>
      saved(await this.authoring.update(principal, template, expected_hash)),
    ),
    serve(TEMPLATE_TOOLS.render, ({ principal }, { id, context, version }) =>
      this.previews.render(principal, { name: id, context, version }),
    ),
    serve(TEMPLATE_TOOLS.purgeDraft, async ({ principal }, { id }) => {
      const { body_hash } = await this.reading.read(principal, id);
      await this.lifecycle.purgeDraft(principal, id, body_hash);
      return { id, purged: true };
    }),
  ];
  readonly #limit: (asked: number | undefined) => number;

  constructor(
    private readonly reading: TemplateReading,
    private readonly authoring: TemplateAuthoring,
    private readonly lifecycle: TemplateLifecycle,
    private readonly previews: TemplatePreview,
    configuration: Configuration,
  ) {
    this.#limit = pageLimit(configuration);
  }

  async #list(
    principal: Principal,
    { prefix, limit, dialect, q, is_library }: ArgumentsOf<typeof TEMPLATE_TOOLS.list.arguments>,
  ): Promise<unknown> {
    const page = { first: this.#limit(limit) };
    if (prefix === undefined) {
      const filter = { dialect, q, isLibrary: is_library };
      const [{ items }, total] = await Promise.all([
        this.reading.list(principal, filter, page),
        this.reading.count(principal, filter),
      ]);
      return new ListedEntries(
        items.map(entry),
        total,
        'search with “q”, walk the folders with “prefix”, or raise “limit”',
      );
    }
    const level = await this.reading.tree(principal, prefix, page);
    return {
      prefix: level.prefix,
      folders: level.folders.map(({ path, segment, template_count }) => ({
        name: segment,
        path,
        count: template_count,
      })),
      items: level.templates.map(entry),
      ...(level.has_more ? { total: level.total, truncated: true } : {}),
    };
  }
}

function entry({ id, display_name, description, version, status, updated_at, dialect, is_library }: TemplateSummary) {
  return { id, name: id, display_name, description, version, status, updated_at, type: 'sql', dialect, is_library };
}

function saved({ id, version, status, body_hash }: TemplateView) {
  return { id, version, status, body_hash };
}
