import { join } from 'node:path';
import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { OperationTypeNode } from 'graphql';
import { Configuration, PenstockError, type Principal } from '#libs/kernel';
import { Caller, callerOf } from '../http/caller.decorator.js';
import { redirect } from '../http/navigation.js';
import { readPage } from '../pages/static-files.js';
import { Operation } from '../http/operation.decorator.js';
import { contextOf } from '../http/request-context.js';
import { GraphqlEngine, type GraphqlAnswer } from './engine/graphql-engine.js';
import { operationRequest } from './graphql-request.js';
import type { AdmittedOperation, OperationRequest, RefusedOperation } from './limits/operation-gate.js';
import { PersistedOperations } from './persisted/persisted-operations.js';
import { SubscriptionStreams } from './subscriptions/subscription-streams.js';
import { z } from 'zod';
import { Describe, raw, redirection } from '../http/describe.decorator.js';
import { codesBelow } from '../openapi/error-groups.js';

const PAGE = join(import.meta.dirname, '../../../graphiql/index.html');
const RESPONSE_TYPES = ['application/graphql-response+json', 'application/json'];
const EVENT_STREAM = 'text/event-stream';
const COST_PER_REQUEST = 100;
/** The hash of a document that the server was given before, instead of the document. */
const PERSISTED = z.looseObject({
  persistedQuery: z.looseObject({ version: z.literal(1), sha256Hash: z.string() }).optional(),
});

/**
 * The GraphQL door (03 §12). `reference.read` is what every person and every user key may do: keys of other kinds stop
 * here, and each root field is judged by its own operation.
 */
@Controller('/graphql')
export class GraphqlController {
  readonly #hasPage: boolean;
  #page: string | undefined;

  constructor(
    private readonly engine: GraphqlEngine,
    private readonly subscriptions: SubscriptionStreams,
    private readonly persisted: PersistedOperations,
    configuration: Configuration,
  ) {
    this.#hasPage = configuration.get('datapipelines.graphql.graphiql');
  }

  @Post()
  @Operation('reference.read')
  @Describe('Run one GraphQL query or mutation.', {
    body: z.looseObject({
      query: z.string().optional(),
      variables: z.unknown(),
      operationName: z.string().nullish(),
      extensions: PERSISTED.optional(),
    }),
    answers: { 200: raw('application/graphql-response+json', 'Data, errors and extensions.') },
    errors: [...codesBelow('graphql.'), 'request.not_acceptable'],
  })
  async run(@Req() request: Request, @Res() response: Response): Promise<void> {
    const caller = callerOf(request);
    const contentType = request.accepts(RESPONSE_TYPES);
    if (!contentType) throw notAcceptable(RESPONSE_TYPES.join(', '));
    const verdict = await this.#judge(request, caller);
    if ('refused' in verdict) {
      return send(response, contentType, this.engine.refusal(verdict.refused, caller.correlationId));
    }
    const { asked, admitted } = verdict;
    if (admitted.operation.operation === OperationTypeNode.SUBSCRIPTION) {
      throw notAllowed('Subscribe at /graphql/stream.');
    }
    await charge(request, admitted.cost);
    send(
      response,
      contentType,
      await this.engine.execute(admitted, asked, this.engine.contextOf(caller, admitted.cost)),
    );
  }

  @Post('stream')
  @Operation('reference.read')
  @Describe('Follow one GraphQL subscription as server-sent events.', {
    body: z.looseObject({ query: z.string().optional(), extensions: PERSISTED.optional() }),
    answers: { 200: raw('text/event-stream', '`next` and `complete` of the graphql-sse protocol.') },
    errors: [...codesBelow('graphql.'), 'request.not_acceptable'],
  })
  async subscribe(@Caller() caller: Principal, @Req() request: Request, @Res() response: Response): Promise<void> {
    if (!request.accepts(EVENT_STREAM)) throw notAcceptable(EVENT_STREAM);
    const verdict = await this.#judge(request, caller);
    if ('refused' in verdict) {
      return send(response, 'application/json', this.engine.refusal(verdict.refused, caller.correlationId));
    }
    const { asked, admitted } = verdict;
    if (admitted.operation.operation !== OperationTypeNode.SUBSCRIPTION) {
      throw notAllowed('Only subscriptions run here; send queries and mutations to /graphql.');
    }
    await charge(request, admitted.cost);
    await this.subscriptions.stream(caller, admitted, asked, request, response);
  }

  /** The document that is meant, and whether it may run. */
  async #judge(
    request: Request,
    caller: Principal,
  ): Promise<{ asked: OperationRequest; admitted: AdmittedOperation } | RefusedOperation> {
    const sent = operationRequest(request);
    const asked = await this.persisted.resolve(sent, caller);
    if ('refused' in asked) return asked;
    const admitted = this.engine.judge(asked);
    if ('refused' in admitted) return admitted;
    await this.persisted.keep(sent);
    return { asked, admitted };
  }

  /** The console for people. It holds no data: what it shows it asks for like any other client. */
  @Get()
  @Operation('public')
  @Describe('Show the GraphQL console.', {
    answers: { 200: raw('text/html', 'The page.'), 302: redirection('To the sign-in page.') },
    errors: ['request.method_not_allowed'],
  })
  page(@Req() request: Request, @Res() response: Response): void {
    if (!this.#hasPage || request.accepts('application/json', 'text/html') !== 'text/html') {
      response.setHeader('Allow', 'POST, OPTIONS');
      throw new PenstockError('request.method_not_allowed', { details: { allow: ['POST', 'OPTIONS'] } });
    }
    if (!contextOf(request).principal) return redirect(response, '/login?return_to=/graphql');
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Cache-Control', 'no-cache');
    response.end((this.#page ??= readPage(PAGE)));
  }
}

function send(response: Response, contentType: string, { status, body }: GraphqlAnswer): void {
  response.status(status);
  response.setHeader('Content-Type', `${contentType}; charset=utf-8`);
  response.setHeader('Cache-Control', 'no-store');
  response.end(body);
}

/** An operation is worth a request per hundred of its cost; the first is spent already. */
async function charge(request: Request, cost: number): Promise<void> {
  await contextOf(request).spend?.(Math.max(1, Math.ceil(cost / COST_PER_REQUEST)) - 1);
}

function notAcceptable(produces: string): PenstockError {
  return new PenstockError('request.not_acceptable', { details: { produces } });
}

function notAllowed(message: string): PenstockError {
  return new PenstockError('graphql.operation_not_allowed', { message });
}
