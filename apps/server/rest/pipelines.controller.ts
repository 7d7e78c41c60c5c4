import { Controller, Delete, Get, HttpCode, Param, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { PenstockError, type Principal } from '#libs/kernel';
import { CheckService } from '#libs/checks';
import {
  PipelineAuthoring,
  PipelineLifecycle,
  PipelineReading,
  PipelineTransfer,
  type PipelineFile,
  type PipelineView,
} from '#libs/pipelines';
import { Caller } from '../http/caller.decorator.js';
import { clientGone } from '../http/client-gone.js';
import { Versioned } from '../http/envelope.interceptor.js';
import { bodyObject, parseInput, queryFlag, queryText, wholeNumber } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { entityStatusFilter } from './filters.js';
import { Paging } from './paging.js';
import { Describe, nothing } from '../http/describe.decorator.js';
import { DOCUMENT_REFUSALS, TEMPLATE_REFUSALS, codesBelow } from '../openapi/error-groups.js';
import { listOf, paging } from '../openapi/shapes/envelope.js';
import {
  checkRequest,
  checkRuns,
  checks,
  entityStatus,
  pipelineDocument,
  pipelineFile,
  pipelineImport,
  pipelineLevel,
  pipelineSummary,
  pipelineVersionSummary,
  pipelineView,
  purgeReport,
  validationReport,
} from '../openapi/shapes/pipelines.js';

const pointer = z.strictObject({ version: wholeNumber });
/** Options of a release stand in the query; a body that asks for something must not be passed over. */
const noBody = z.strictObject({});

/** Pipelines by UUID. Documents pass through as they came: their numbers keep their spelling (01 §1). */
@Controller('/api/v1/pipelines')
export class PipelinesController {
  constructor(
    private readonly authoring: PipelineAuthoring,
    private readonly lifecycle: PipelineLifecycle,
    private readonly reading: PipelineReading,
    private readonly transfer: PipelineTransfer,
    private readonly checks: CheckService,
    private readonly paging: Paging,
  ) {}

  @Post()
  @Operation('pipeline.create')
  @Describe('Create a pipeline; its version 1 is a draft.', {
    body: pipelineDocument,
    answers: { 201: pipelineView },
    errors: [...DOCUMENT_REFUSALS, 'pipeline.authoring.disabled'],
  })
  create(@Caller() caller: Principal, @Req() request: Request): Promise<PipelineView> {
    return this.authoring.create(caller, bodyObject(request));
  }

  /** `prefix` = one level of the tree (the other filters are ignored); otherwise a page. */
  @Get()
  @Operation('pipeline.read')
  @Describe('List pipelines, or browse one folder level with `prefix`.', {
    query: {
      ...paging,
      owner: z.string().optional().describe('Owner, by id or e-mail.'),
      datasource: z.string().optional().describe('Used by a node of the working version.'),
      q: z.string().optional().describe('Substring of name, display name or description.'),
      status: entityStatus.optional(),
      prefix: z.string().optional().describe('Folder; empty is the root. The filters but `status` are ignored.'),
    },
    answers: { 200: z.union([listOf(pipelineSummary), pipelineLevel]) },
    errors: ['graphql.cursor_invalid'],
  })
  async list(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const prefix = queryText(request, 'prefix');
    if (prefix !== undefined) {
      const status = entityStatusFilter(request);
      return this.paging.level(request, {
        list: 'pipelineTree',
        filter: { prefix, status },
        read: (page) => this.reading.tree(caller, prefix, page, status),
        lastOf: ({ pipelines }) => pipelines.at(-1)?.name,
      });
    }
    const filter = {
      owner: queryText(request, 'owner'),
      datasource: queryText(request, 'datasource'),
      q: queryText(request, 'q'),
      status: entityStatusFilter(request),
    };
    return this.paging.list(request, {
      list: 'pipelines',
      filter,
      page: (page) => this.reading.list(caller, filter, page),
      count: () => this.reading.count(caller, filter),
      placeOf: ({ name }) => name,
    });
  }

  @Post('validate')
  @HttpCode(200)
  @Operation('pipeline.validate')
  @Describe('Judge a document as a save would, and store nothing.', {
    body: pipelineDocument,
    answers: { 200: validationReport },
    errors: [],
  })
  validate(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    return this.authoring.validate(caller, bodyObject(request));
  }

  /** An exported file as it is, or a pipeline record alone. 201 when the version is new here, 200 when it was there. */
  @Post('import')
  @Operation('pipeline.import')
  @Describe('Import a released version with its templates, as exported or as a record alone.', {
    body: z.union([pipelineFile, pipelineDocument]),
    answers: { 200: pipelineImport, 201: pipelineImport },
    errors: [
      ...DOCUMENT_REFUSALS,
      ...TEMPLATE_REFUSALS,
      ...codesBelow('pipeline.import.'),
      ...codesBelow('pipeline.version.'),
      ...codesBelow('template.version.'),
    ],
  })
  async import(
    @Caller() caller: Principal,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    const { pipeline, imported, templates } = await this.transfer.import(caller, bodyObject(request));
    response.status(imported ? 201 : 200);
    return { ...pipeline, imported, templates };
  }

  @Get(':id')
  @Operation('pipeline.read')
  @Describe('Read the working version: the draft, else the current one.', {
    headers: ['If-None-Match'],
    answers: { 200: pipelineView, 304: nothing('Nothing changed since the `ETag` that was sent.') },
    errors: ['pipeline.execution.not_found'],
  })
  async read(@Caller() caller: Principal, @Param('id') id: string): Promise<Versioned> {
    return versioned(await this.reading.read(caller, id));
  }

  /** The released version as a file, with the templates it needs unless `include_templates=false`. */
  @Get(':id/export')
  @Operation('pipeline.read')
  @Describe('Export the current release as a file, with the templates it needs.', {
    query: { include_templates: z.boolean().optional().meta({ default: true }) },
    answers: { 200: pipelineFile },
    errors: ['pipeline.execution.not_found', 'pipeline.promotion.not_released'],
  })
  export(@Caller() caller: Principal, @Param('id') id: string, @Req() request: Request): Promise<PipelineFile> {
    const asked = queryText(request, 'include_templates');
    const includeTemplates = asked === undefined || queryFlag(request, 'include_templates');
    return this.transfer.export(caller, id, { includeTemplates });
  }

  @Get(':id/versions')
  @Operation('pipeline.read')
  @Describe('List the versions, without their bodies.', {
    answers: { 200: z.object({ versions: z.array(pipelineVersionSummary) }) },
    errors: ['pipeline.execution.not_found'],
  })
  async versions(@Caller() caller: Principal, @Param('id') id: string): Promise<unknown> {
    return { versions: await this.reading.versions(caller, id) };
  }

  @Get(':id/versions/:version')
  @Operation('pipeline.read')
  @Describe('Read one version.', {
    headers: ['If-None-Match'],
    answers: { 200: pipelineView, 304: nothing('Nothing changed since the `ETag` that was sent.') },
    errors: ['pipeline.execution.not_found'],
  })
  async version(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Param('version') version: string,
  ): Promise<Versioned> {
    return versioned(await this.reading.read(caller, id, versionOf(version)));
  }

  /** What the version declares, each check with its newest run. */
  @Get(':id/versions/:version/checks')
  @Operation('pipeline.read')
  @Describe('Read what a version checks, each check with its newest run.', {
    answers: { 200: checks },
    errors: ['pipeline.execution.not_found'],
  })
  latestChecks(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Param('version') version: string,
  ): Promise<unknown> {
    return this.checks.latest(caller, id, versionOf(version));
  }

  /** Runs every check now; each run is in the history before the answer. */
  @Post(':id/versions/:version/checks/run')
  @HttpCode(200)
  @Operation('pipeline.run_checks')
  @Describe('Run every check of a version now.', {
    body: checkRequest,
    answers: { 200: checkRuns },
    errors: ['pipeline.execution.not_found', ...codesBelow('pipeline.execution.')],
  })
  runChecks(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Param('version') version: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    const { parameters } = request.body === undefined ? {} : bodyObject(request);
    return this.checks.run(caller, id, versionOf(version), parameters, clientGone(response).signal);
  }

  @Put(':id')
  @Operation('pipeline.update')
  @Describe('Write the draft: over a release a new one, over a draft in place, over an equal release nothing.', {
    headers: ['If-Match'],
    body: pipelineDocument,
    answers: { 200: pipelineView },
    errors: [
      'pipeline.execution.not_found',
      ...DOCUMENT_REFUSALS,
      'pipeline.version.conflict',
      'pipeline.authoring.disabled',
    ],
  })
  update(@Caller() caller: Principal, @Param('id') id: string, @Req() request: Request): Promise<PipelineView> {
    return this.authoring.update(caller, id, bodyObject(request), request.get('If-Match'));
  }

  @Post(':id/release')
  @HttpCode(200)
  @Operation('pipeline.release')
  @Describe('Release the draft; its checks have to pass.', {
    headers: ['If-Match'],
    query: {
      release_pinned_templates: z.boolean().optional().describe('Release the drafts of templates that nodes pin, too.'),
      override_checks_reason: z.string().min(10).optional().describe('Release although checks fail; audited.'),
    },
    body: noBody.optional(),
    answers: { 200: pipelineView },
    errors: [
      'pipeline.execution.not_found',
      ...DOCUMENT_REFUSALS,
      ...codesBelow('pipeline.version.'),
      ...codesBelow('template.version.'),
      'pipeline.release.template_not_released',
      'template.release.import_not_released',
      'pipeline.check.failed',
      'pipeline.authoring.disabled',
    ],
  })
  release(@Caller() caller: Principal, @Param('id') id: string, @Req() request: Request): Promise<unknown> {
    parseInput(noBody, request.body);
    return this.lifecycle.release(caller, id, request.get('If-Match'), {
      releasePinnedTemplates: queryFlag(request, 'release_pinned_templates'),
      overrideChecksReason: queryText(request, 'override_checks_reason'),
    });
  }

  @Post(':id/draft/discard')
  @Operation('pipeline.purge')
  @Describe('Delete the draft and its runs for good.', {
    headers: ['If-Match'],
    answers: { 204: nothing('Deleted.') },
    errors: ['pipeline.execution.not_found', ...codesBelow('pipeline.version.'), 'pipeline.authoring.disabled'],
  })
  async purgeDraft(@Caller() caller: Principal, @Param('id') id: string, @Req() request: Request): Promise<void> {
    await this.lifecycle.purgeDraft(caller, id, request.get('If-Match'));
  }

  @Post(':id/versions/:version/discard')
  @HttpCode(200)
  @Operation('pipeline.discard')
  @Describe('Discard a released version; it can be restored.', {
    answers: { 200: pipelineView },
    errors: ['pipeline.execution.not_found', ...codesBelow('pipeline.version.'), 'pipeline.authoring.disabled'],
  })
  discard(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Param('version') version: string,
  ): Promise<PipelineView> {
    return this.lifecycle.discard(caller, id, versionOf(version));
  }

  @Post(':id/versions/:version/restore')
  @HttpCode(200)
  @Operation('pipeline.restore')
  @Describe('Restore a discarded version.', {
    answers: { 200: pipelineView },
    errors: [
      'pipeline.execution.not_found',
      ...DOCUMENT_REFUSALS,
      ...codesBelow('pipeline.version.'),
      'pipeline.authoring.disabled',
    ],
  })
  restore(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Param('version') version: string,
  ): Promise<PipelineView> {
    return this.lifecycle.restore(caller, id, versionOf(version));
  }

  @Delete(':id/versions/:version')
  @Operation('pipeline.purge')
  @Describe('Delete one draft version for good.', {
    headers: ['If-Match'],
    answers: { 204: nothing('Deleted.') },
    errors: ['pipeline.execution.not_found', ...codesBelow('pipeline.version.'), 'pipeline.authoring.disabled'],
  })
  async purgeVersion(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Param('version') version: string,
    @Req() request: Request,
  ): Promise<void> {
    await this.lifecycle.purgeVersion(caller, id, versionOf(version), request.get('If-Match'));
  }

  @Post(':id/current')
  @HttpCode(200)
  @Operation('pipeline.switch')
  @Describe('Point the pipeline at another released version; endpoints follow at once.', {
    body: pointer,
    answers: { 200: pipelineView },
    errors: ['pipeline.execution.not_found', ...codesBelow('pipeline.version.'), ...DOCUMENT_REFUSALS],
  })
  switchCurrent(@Caller() caller: Principal, @Param('id') id: string, @Req() request: Request): Promise<PipelineView> {
    return this.lifecycle.switchCurrent(caller, id, parseInput(pointer, request.body).version);
  }

  @Delete(':id')
  @HttpCode(200)
  @Operation('pipeline.purge')
  @Describe('Delete a pipeline that is one draft and was never released.', {
    headers: ['If-Match'],
    query: {
      include_exclusive_draft_templates: z
        .boolean()
        .optional()
        .describe('Delete the drafts of templates that nobody else pins, too.'),
    },
    answers: { 200: purgeReport },
    errors: ['pipeline.execution.not_found', ...codesBelow('pipeline.version.'), 'pipeline.authoring.disabled'],
  })
  purge(@Caller() caller: Principal, @Param('id') id: string, @Req() request: Request): Promise<unknown> {
    const options = { includeExclusiveDraftTemplates: queryFlag(request, 'include_exclusive_draft_templates') };
    return this.lifecycle.purge(caller, id, options, request.get('If-Match'));
  }
}

function versioned(view: PipelineView): Versioned {
  return new Versioned(view, view.body_hash);
}

/** A version number out of the path; anything else names no version. */
function versionOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new PenstockError('pipeline.execution.not_found');
}
