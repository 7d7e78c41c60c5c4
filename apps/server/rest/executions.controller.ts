import { Controller, Delete, Get, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { ExecutionEvents, ExecutionResults, ExecutionService, Launcher, type Launched } from '#libs/executions';
import { Configuration, PenstockError, writeJson, type JsonObject, type Principal } from '#libs/kernel';
import { Caller } from '../http/caller.decorator.js';
import { jsonObject, parseInput, queryInteger, queryText, wholeNumber } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { contextOf } from '../http/request-context.js';
import { resultOptions } from '../http/result-options.js';
import { ExecutionStreams } from '../sse/execution-streams.js';
import { streamCsv } from './csv-download.js';
import { momentFilter, wordFilter } from './filters.js';
import { Paging, shownAs } from './paging.js';
import { Describe, nothing, raw } from '../http/describe.decorator.js';
import { codesBelow } from '../openapi/error-groups.js';
import { listOf, moment, paging } from '../openapi/shapes/envelope.js';
import { accepted, executionStatus, executionView, resultPage } from '../openapi/shapes/executions.js';

const runRequest = z.strictObject({ version: wholeNumber.optional(), parameters: jsonObject.nullable().optional() });
const EVENT_STREAM = 'text/event-stream';
const EVENT_PAGE = { default: 200, max: 500 };

/** Running pipelines, watching runs, reading their rows (03 §5, §6). */
@Controller('/api/v1')
export class ExecutionsController {
  readonly #baseUrl: string;

  constructor(
    private readonly launcher: Launcher,
    private readonly executions: ExecutionService,
    private readonly events: ExecutionEvents,
    private readonly results: ExecutionResults,
    private readonly streams: ExecutionStreams,
    private readonly paging: Paging,
    configuration: Configuration,
  ) {
    this.#baseUrl = configuration.get('datapipelines.auth.base-url') ?? '';
  }

  /** Answers the run's own event stream, or 202 with `Prefer: respond-async`. Refusals are JSON whatever `Accept` says. */
  @Post('pipelines/:id/execute')
  @Operation('pipeline.execute')
  @Describe('Run a pipeline and stream its events, or start it and answer at once.', {
    headers: ['Prefer', 'Idempotency-Key', 'DP-Result-TTL-Seconds', 'DP-Result-Page-Rows'],
    body: runRequest.optional(),
    answers: {
      200: raw('text/event-stream', 'The events of the run, each with its number; the last is its end.'),
      202: accepted,
    },
    errors: [
      'pipeline.execution.not_found',
      ...codesBelow('pipeline.execution.'),
      ...codesBelow('idempotency.'),
      'request.not_acceptable',
      'server.draining',
    ],
  })
  async execute(
    @Caller() caller: Principal,
    @Param('id') pipelineId: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const detached = /(^|,)\s*respond-async\s*(,|;|$)/i.test(request.get('Prefer') ?? '');
    const produces = detached ? 'application/json' : EVENT_STREAM;
    if (!request.accepts(produces)) throw notAcceptable(produces);
    const { version, parameters } = parseInput(runRequest, request.body);
    const launched = await this.launcher.launch(caller, {
      pipelineId,
      version,
      parameters: (parameters ?? {}) as JsonObject,
      triggeredVia: caller.method === 'session' ? 'UI' : 'REST',
      detached,
      idempotencyKey: request.get('Idempotency-Key'),
      ...resultOptions(request),
    });
    if (detached) this.#accepted(request, response, launched);
    else await this.#stream(caller, response, launched);
  }

  @Get('executions')
  @Operation('execution.read')
  @Describe('List the runs of the workspace, newest first.', {
    query: {
      ...paging,
      pipeline_id: z.uuid().optional(),
      status: executionStatus.optional(),
      started_after: moment.optional(),
      started_before: moment.optional(),
      triggered_via: z.enum(['UI', 'REST', 'MCP', 'PIPELINE', 'ENDPOINT']).optional(),
      root_execution_id: z.uuid().optional(),
    },
    answers: { 200: listOf(executionView) },
    errors: ['graphql.cursor_invalid'],
  })
  async list(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const filter = {
      pipelineId: queryText(request, 'pipeline_id'),
      status: wordFilter(request, 'status', ['RUNNING', 'SUCCESS', 'FAILED', 'ABORTED']),
      startedAfter: momentFilter(request, 'started_after'),
      startedBefore: momentFilter(request, 'started_before'),
      triggeredVia: wordFilter(request, 'triggered_via', ['UI', 'REST', 'MCP', 'PIPELINE', 'ENDPOINT']),
      rootExecutionId: queryText(request, 'root_execution_id'),
    };
    const body = await this.paging.list(request, {
      list: 'executions',
      filter,
      page: (page) => this.executions.list(caller, filter, page),
      count: () => this.executions.count(caller, filter),
      placeOf: ({ cursor }) => cursor,
    });
    return shownAs(body, ({ execution }) => execution);
  }

  @Get('executions/:id')
  @Operation('execution.read')
  @Describe('Read one run.', { answers: { 200: executionView }, errors: ['result.execution_not_found'] })
  read(@Caller() caller: Principal, @Param('id') id: string): Promise<unknown> {
    return this.executions.read(caller, id);
  }

  /** 204 = asked; `execution_aborted` = done. */
  @Delete('executions/:id')
  @Operation('execution.cancel')
  @Describe('Ask a run to stop; its `execution_aborted` event says that it did.', {
    answers: { 204: nothing('Asked.') },
    errors: ['result.execution_not_found', 'pipeline.execution.not_running', 'pipeline.execution.cancel_unavailable'],
  })
  async cancel(@Caller() caller: Principal, @Param('id') id: string): Promise<void> {
    await this.executions.cancel(caller, id);
  }

  @Get('executions/:id/events')
  @Operation('execution.read')
  @Describe('Stream the events of a run from any point, or page through them.', {
    headers: ['Last-Event-ID'],
    query: {
      after: z.int().optional().describe('The last event that was seen.'),
      format: z.enum(['json', 'sse']).optional(),
      limit: z.int().optional().describe('Of `format=json`: 1 to 500.'),
    },
    answers: {
      200: raw(
        'text/event-stream',
        'What was stored, then what happens; with `format=json` an `EventPage` in the envelope.',
      ),
      204: nothing('The run has ended and nothing is left.'),
    },
    errors: ['result.execution_not_found', 'result.expired', 'request.not_acceptable', 'server.draining'],
  })
  async watch(
    @Caller() caller: Principal,
    @Param('id') executionId: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const after = resumePoint(request);
    const format = wordFilter(request, 'format', ['json', 'sse']) ?? 'sse';
    if (format === 'sse') {
      if (!request.accepts(EVENT_STREAM)) throw notAcceptable(EVENT_STREAM);
      return this.streams.stream(caller, { executionId, after }, response);
    }
    const asked = queryInteger(request, 'limit') ?? EVENT_PAGE.default;
    const limit = Math.min(Math.max(1, asked), EVENT_PAGE.max);
    this.#send(request, response, 200, await this.events.page(caller, executionId, { after, limit }));
  }

  @Get('executions/:id/result')
  @Operation('execution.result.read')
  @Describe('Read a page of rows, or download all of them as CSV.', {
    query: { offset: z.int().optional(), limit: z.int().optional(), format: z.enum(['json', 'csv']).optional() },
    answers: { 200: resultPage },
    errors: [
      'result.execution_not_found',
      'result.format_unsupported',
      'result.execution_incomplete',
      'result.execution_failed',
      'result.expired',
      'result.storage_unavailable',
    ],
  })
  async result(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const format = queryText(request, 'format') ?? 'json';
    if (format !== 'json' && format !== 'csv') {
      await this.executions.read(caller, id);
      throw new PenstockError('result.format_unsupported', { details: { supported: ['json', 'csv'] } });
    }
    if (format === 'csv') return streamCsv(response, id, (signal) => this.results.csv(caller, id, signal));
    const asked = { offset: queryInteger(request, 'offset'), limit: queryInteger(request, 'limit') };
    this.#send(request, response, 200, await this.results.page(caller, id, asked));
  }

  #stream(caller: Principal, response: Response, launched: Launched): Promise<void> {
    return this.streams.stream(
      caller,
      {
        executionId: launched.executionId,
        after: 0,
        attach: launched.replayed,
        lease: launched.stream,
        headers: launched.replayed ? { 'Idempotent-Replayed': 'true' } : {},
      },
      response,
    );
  }

  #accepted(request: Request, response: Response, { executionId, replayed }: Launched): void {
    const status = `${this.#baseUrl}/api/v1/executions/${executionId}`;
    response.setHeader('Location', status);
    response.setHeader('DP-Execution-Id', executionId);
    response.setHeader('Preference-Applied', 'respond-async');
    if (replayed) response.setHeader('Idempotent-Replayed', 'true');
    this.#send(request, response, 202, {
      execution_id: executionId,
      status_url: status,
      events_url: `${status}/events`,
      result_url: `${status}/result`,
    });
  }

  #send(request: Request, response: Response, status: number, data: object): void {
    response.status(status);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Cache-Control', 'no-store');
    response.end(writeJson({ schema_version: 1, correlation_id: contextOf(request).correlationId, data: { ...data } }));
  }
}

function notAcceptable(produces: string): PenstockError {
  return new PenstockError('request.not_acceptable', { details: { produces } });
}

/** `Last-Event-ID` wins over `after`; absent is the beginning (03 §5.4). */
function resumePoint(request: Request): number {
  const text = request.get('Last-Event-ID') ?? queryText(request, 'after') ?? '0';
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new PenstockError('pipeline.execution.invalid_parameter_type', {
    message: 'The resume point must be the id of an event: a whole number, 0 or greater.',
    details: { field: request.get('Last-Event-ID') === undefined ? 'after' : 'Last-Event-ID', reason: 'field' },
  });
}
