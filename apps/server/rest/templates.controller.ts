import { Controller, Delete, Get, HttpCode, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { type Principal } from '#libs/kernel';
import {
  TemplateAuthoring,
  TemplateLifecycle,
  TemplatePreview,
  TemplateReading,
  TemplateTransfer,
  type TemplateImportReport,
  type TemplateReport,
  type TemplateUse,
  type TemplateView,
} from '#libs/templates';
import { Caller } from '../http/caller.decorator.js';
import { Versioned } from '../http/envelope.interceptor.js';
import { anyJson, bodyObject, parseInput, queryInteger, queryText, wholeNumber } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { dialectFilter, entityStatusFilter, wordFilter } from './filters.js';
import { Paging } from './paging.js';
import { Describe, nothing } from '../http/describe.decorator.js';
import { TEMPLATE_REFUSALS, codesBelow } from '../openapi/error-groups.js';
import { listOf, paging } from '../openapi/shapes/envelope.js';
import { entityStatus } from '../openapi/shapes/pipelines.js';
import {
  dialect,
  renderedTemplate,
  templateBody,
  templateFile,
  templateImportReport,
  templateLevel,
  templateReport,
  templateSummary,
  templateUse,
  templateVersions,
  templateView,
} from '../openapi/shapes/templates.js';

const named = z.strictObject({ name: z.string() });
const numbered = z.strictObject({ name: z.string(), version: wholeNumber });
const preview = z.strictObject({
  name: z.string(),
  version: wholeNumber.optional(),
  context: anyJson.optional(),
  mode: z.string().optional(),
});

/** Templates are named in the query or the body, never in the path: their names are folder paths (03 §3). */
@Controller('/api/v1/templates')
export class TemplatesController {
  constructor(
    private readonly authoring: TemplateAuthoring,
    private readonly lifecycle: TemplateLifecycle,
    private readonly reading: TemplateReading,
    private readonly previews: TemplatePreview,
    private readonly transfer: TemplateTransfer,
    private readonly paging: Paging,
  ) {}

  @Post()
  @Operation('template.create')
  @Describe('Create a template; its version 1 is a draft.', {
    body: templateBody,
    answers: { 201: templateView },
    errors: [...TEMPLATE_REFUSALS, 'template.authoring.disabled'],
  })
  create(@Caller() caller: Principal, @Req() request: Request): Promise<TemplateView> {
    return this.authoring.create(caller, bodyObject(request));
  }

  @Put()
  @Operation('template.update')
  @Describe('Write the draft of the template that `id` names.', {
    headers: ['If-Match'],
    body: templateBody,
    answers: { 200: templateView },
    errors: ['template.not_found', ...TEMPLATE_REFUSALS, 'template.version.conflict', 'template.authoring.disabled'],
  })
  update(@Caller() caller: Principal, @Req() request: Request): Promise<TemplateView> {
    return this.authoring.update(caller, bodyObject(request), request.get('If-Match'));
  }

  /** `name` = one template; `prefix` = one level of the tree; otherwise a page. */
  @Get()
  @Operation('template.read')
  @Describe('List templates, read one by `name`, or browse one folder level with `prefix`.', {
    headers: ['If-None-Match'],
    query: {
      ...paging,
      name: z.string().optional().describe('One template.'),
      prefix: z.string().optional().describe('Folder; empty is the root.'),
      dialect: dialect.optional(),
      type: z.literal('sql').optional().describe('The only type there is.'),
      q: z.string().optional(),
      status: entityStatus.optional(),
    },
    answers: {
      200: z.union([listOf(templateSummary), templateLevel, templateView]),
      304: nothing('Nothing changed since the `ETag` that was sent.'),
    },
    errors: ['graphql.cursor_invalid', 'template.not_found'],
  })
  async list(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const name = queryText(request, 'name');
    if (name !== undefined) return versioned(await this.reading.read(caller, name));
    const prefix = queryText(request, 'prefix');
    if (prefix !== undefined) {
      const status = entityStatusFilter(request);
      return this.paging.level(request, {
        list: 'templateTree',
        filter: { prefix, status },
        read: (page) => this.reading.tree(caller, prefix, page, status),
        lastOf: ({ templates }) => templates.at(-1)?.id,
      });
    }
    wordFilter(request, 'type', ['sql']);
    const filter = { dialect: dialectFilter(request), q: queryText(request, 'q'), status: entityStatusFilter(request) };
    return this.paging.list(request, {
      list: 'templates',
      filter,
      page: (page) => this.reading.list(caller, filter, page),
      count: () => this.reading.count(caller, filter),
      placeOf: ({ id }) => id,
    });
  }

  /** Which pipelines pin a version in their working version. */
  @Get('used-by')
  @Operation('template.read')
  @Describe('Tell which pipelines pin a version in their working version.', {
    query: { name: z.string(), version: z.int().optional() },
    answers: { 200: templateUse },
    errors: ['template.not_found'],
  })
  usedBy(@Caller() caller: Principal, @Req() request: Request): Promise<TemplateUse> {
    const { name } = parseInput(named, { name: queryText(request, 'name') });
    return this.reading.usedBy(caller, name, queryInteger(request, 'version'));
  }

  @Get('versions')
  @Operation('template.read')
  @Describe('List the versions of a template, or read one.', {
    headers: ['If-None-Match'],
    query: { name: z.string(), version: z.int().optional() },
    answers: {
      200: z.union([templateVersions, templateView]),
      304: nothing('Nothing changed since the `ETag` that was sent.'),
    },
    errors: ['template.not_found'],
  })
  async versions(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const { name } = parseInput(named, { name: queryText(request, 'name') });
    const version = queryInteger(request, 'version');
    if (version !== undefined) return versioned(await this.reading.read(caller, name, version));
    return { versions: await this.reading.versions(caller, name) };
  }

  /** `{templates: […]}`, all or nothing. 201 when any version is new here, 200 when all were there. */
  @Post('import')
  @Operation('template.import')
  @Describe('Import released templates, all or none.', {
    body: templateFile,
    answers: { 200: templateImportReport, 201: templateImportReport },
    errors: [...TEMPLATE_REFUSALS, ...codesBelow('pipeline.import.'), ...codesBelow('template.version.')],
  })
  async import(
    @Caller() caller: Principal,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TemplateImportReport> {
    const report = await this.transfer.import(caller, bodyObject(request));
    response.status(report.templates.some(({ imported }) => imported) ? 201 : 200);
    return report;
  }

  @Post('release')
  @HttpCode(200)
  @Operation('template.release')
  @Describe('Release the draft.', {
    headers: ['If-Match'],
    body: named,
    answers: { 200: templateView },
    errors: [
      'template.not_found',
      ...TEMPLATE_REFUSALS,
      ...codesBelow('template.version.'),
      'template.release.import_not_released',
      'template.authoring.disabled',
    ],
  })
  release(@Caller() caller: Principal, @Req() request: Request): Promise<TemplateView> {
    return this.lifecycle.release(caller, parseInput(named, request.body).name, request.get('If-Match'));
  }

  @Post('draft/discard')
  @Operation('template.purge_draft')
  @Describe('Delete the draft for good.', {
    headers: ['If-Match'],
    body: named,
    answers: { 204: nothing('Deleted.') },
    errors: [
      'template.not_found',
      ...codesBelow('template.version.'),
      'template.in_use',
      'template.authoring.disabled',
      'auth.session.required',
    ],
  })
  async purgeDraft(@Caller() caller: Principal, @Req() request: Request): Promise<void> {
    await this.lifecycle.purgeDraft(caller, parseInput(named, request.body).name, request.get('If-Match'));
  }

  @Post('version/discard')
  @HttpCode(200)
  @Operation('template.discard')
  @Describe('Discard a released version that nothing pins; it can be restored.', {
    body: numbered,
    answers: { 200: templateView },
    errors: [
      'template.not_found',
      ...codesBelow('template.version.'),
      'template.in_use',
      'template.authoring.disabled',
    ],
  })
  discard(@Caller() caller: Principal, @Req() request: Request): Promise<TemplateView> {
    const { name, version } = parseInput(numbered, request.body);
    return this.lifecycle.discard(caller, name, version);
  }

  @Post('version/restore')
  @HttpCode(200)
  @Operation('template.restore')
  @Describe('Restore a discarded version.', {
    body: numbered,
    answers: { 200: templateView },
    errors: [
      'template.not_found',
      ...TEMPLATE_REFUSALS,
      ...codesBelow('template.version.'),
      'template.authoring.disabled',
    ],
  })
  restore(@Caller() caller: Principal, @Req() request: Request): Promise<TemplateView> {
    const { name, version } = parseInput(numbered, request.body);
    return this.lifecycle.restore(caller, name, version);
  }

  @Post('current')
  @HttpCode(200)
  @Operation('template.switch')
  @Describe('Point the template at another released version.', {
    body: numbered,
    answers: { 200: templateView },
    errors: ['template.not_found', ...codesBelow('template.version.')],
  })
  switchCurrent(@Caller() caller: Principal, @Req() request: Request): Promise<TemplateView> {
    const { name, version } = parseInput(numbered, request.body);
    return this.lifecycle.switchCurrent(caller, name, version);
  }

  @Delete('version')
  @Operation('template.purge')
  @Describe('Delete one draft version for good.', {
    headers: ['If-Match'],
    query: { name: z.string(), version: z.int() },
    answers: { 204: nothing('Deleted.') },
    errors: [
      'template.not_found',
      ...codesBelow('template.version.'),
      'template.in_use',
      'template.authoring.disabled',
    ],
  })
  async purgeVersion(@Caller() caller: Principal, @Req() request: Request): Promise<void> {
    const address = { name: queryText(request, 'name'), version: queryInteger(request, 'version') };
    const { name, version } = parseInput(numbered, address);
    await this.lifecycle.purgeVersion(caller, name, version, request.get('If-Match'));
  }

  @Delete()
  @Operation('template.purge')
  @Describe('Delete a template that is one draft and was never released.', {
    headers: ['If-Match'],
    query: { name: z.string() },
    answers: { 204: nothing('Deleted.') },
    errors: [
      'template.not_found',
      ...codesBelow('template.version.'),
      'template.in_use',
      'template.authoring.disabled',
    ],
  })
  async purge(@Caller() caller: Principal, @Req() request: Request): Promise<void> {
    const { name } = parseInput(named, { name: queryText(request, 'name') });
    await this.lifecycle.purge(caller, name, request.get('If-Match'));
  }

  @Post('validate')
  @HttpCode(200)
  @Operation('template.validate')
  @Describe('Judge a template as a save would, and store nothing.', {
    body: templateBody,
    answers: { 200: templateReport },
    errors: [],
  })
  validate(@Caller() caller: Principal, @Req() request: Request): Promise<TemplateReport> {
    return this.authoring.validate(caller, bodyObject(request));
  }

  /** What the template renders to; nothing runs. */
  @Post('render')
  @HttpCode(200)
  @Operation('template.render')
  @Describe('Show what a template renders to; nothing runs.', {
    body: preview,
    answers: { 200: renderedTemplate },
    errors: [
      'template.not_found',
      ...TEMPLATE_REFUSALS,
      ...codesBelow('pipeline.execution.'),
      'pipeline.validation.template_render_failed',
      'pipeline.validation.template_parameter_undeclared',
    ],
  })
  render(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const input = parseInput(preview, request.body);
    return this.previews.render(caller, input);
  }
}

function versioned(view: TemplateView): Versioned {
  return new Versioned(view, view.body_hash);
}
