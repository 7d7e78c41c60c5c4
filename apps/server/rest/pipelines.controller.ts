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
import { bodyObject, listBody, parseInput, queryFlag, queryText, wholeNumber } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { entityStatusFilter } from './filters.js';
import { Paging } from './paging.js';

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
  create(@Caller() caller: Principal, @Req() request: Request): Promise<PipelineView> {
    return this.authoring.create(caller, bodyObject(request));
  }

  /** `prefix` = one level of the tree (the other filters are ignored); otherwise a page. */
  @Get()
  @Operation('pipeline.read')
  async list(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const page = this.paging.of(request);
    const prefix = queryText(request, 'prefix');
    if (prefix !== undefined) return this.reading.tree(caller, prefix, page, entityStatusFilter(request));
    const filter = {
      owner: queryText(request, 'owner'),
      datasource: queryText(request, 'datasource'),
      q: queryText(request, 'q'),
      status: entityStatusFilter(request),
    };
    return listBody(page, await this.reading.list(caller, filter, page));
  }

  @Post('validate')
  @HttpCode(200)
  @Operation('pipeline.validate')
  validate(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    return this.authoring.validate(caller, bodyObject(request));
  }

  /** An exported file as it is, or a pipeline record alone. 201 when the version is new here, 200 when it was there. */
  @Post('import')
  @Operation('pipeline.import')
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
  async read(@Caller() caller: Principal, @Param('id') id: string): Promise<Versioned> {
    return versioned(await this.reading.read(caller, id));
  }

  /** The released version as a file, with the templates it needs unless `include_templates=false`. */
  @Get(':id/export')
  @Operation('pipeline.read')
  export(@Caller() caller: Principal, @Param('id') id: string, @Req() request: Request): Promise<PipelineFile> {
    const asked = queryText(request, 'include_templates');
    const includeTemplates = asked === undefined || queryFlag(request, 'include_templates');
    return this.transfer.export(caller, id, { includeTemplates });
  }

  @Get(':id/versions')
  @Operation('pipeline.read')
  async versions(@Caller() caller: Principal, @Param('id') id: string): Promise<unknown> {
    return { versions: await this.reading.versions(caller, id) };
  }

  @Get(':id/versions/:version')
  @Operation('pipeline.read')
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
  update(@Caller() caller: Principal, @Param('id') id: string, @Req() request: Request): Promise<PipelineView> {
    return this.authoring.update(caller, id, bodyObject(request), request.get('If-Match'));
  }

  @Post(':id/release')
  @HttpCode(200)
  @Operation('pipeline.release')
  release(@Caller() caller: Principal, @Param('id') id: string, @Req() request: Request): Promise<unknown> {
    parseInput(noBody, request.body);
    return this.lifecycle.release(caller, id, request.get('If-Match'), {
      releasePinnedTemplates: queryFlag(request, 'release_pinned_templates'),
      overrideChecksReason: queryText(request, 'override_checks_reason'),
    });
  }

  @Post(':id/draft/discard')
  @Operation('pipeline.purge')
  async purgeDraft(@Caller() caller: Principal, @Param('id') id: string, @Req() request: Request): Promise<void> {
    await this.lifecycle.purgeDraft(caller, id, request.get('If-Match'));
  }

  @Post(':id/versions/:version/discard')
  @HttpCode(200)
  @Operation('pipeline.discard')
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
  restore(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Param('version') version: string,
  ): Promise<PipelineView> {
    return this.lifecycle.restore(caller, id, versionOf(version));
  }

  @Delete(':id/versions/:version')
  @Operation('pipeline.purge')
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
  switchCurrent(@Caller() caller: Principal, @Param('id') id: string, @Req() request: Request): Promise<PipelineView> {
    return this.lifecycle.switchCurrent(caller, id, parseInput(pointer, request.body).version);
  }

  @Delete(':id')
  @HttpCode(200)
  @Operation('pipeline.purge')
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
