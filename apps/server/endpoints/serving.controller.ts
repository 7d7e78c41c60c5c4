import { All, Controller, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { EndpointServer } from '#libs/endpoints';
import { Configuration, PenstockError, writeJson } from '#libs/kernel';
import { queryPairs } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { contextOf } from '../http/request-context.js';
import { resultOptions } from '../http/result-options.js';
import { Describe, raw } from '../http/describe.decorator.js';
import { RUN_FAILURES, codesBelow } from '../openapi/error-groups.js';
import { endpointAccepted, endpointRows } from '../openapi/shapes/executions.js';

/**
 * `GET /api/x/**`: one handler for everything that is published; no route is made at run time (03 §7). Other verbs were
 * refused before the key was asked for.
 */
@Controller('/api/x')
export class ServingController {
  readonly #baseUrl: string;

  constructor(
    private readonly endpoints: EndpointServer,
    configuration: Configuration,
  ) {
    this.#baseUrl = configuration.get('datapipelines.auth.base-url') ?? '';
  }

  @All('{*path}')
  @Operation('endpoint.serve')
  @Describe('Call a published endpoint.', {
    headers: ['DP-Result-TTL-Seconds', 'DP-Result-Page-Rows'],
    answers: {
      200: raw('application/json', 'The first page of rows, bare.', endpointRows),
      202: raw('application/json', 'The timeout of the endpoint passed; the run goes on.', endpointAccepted),
    },
    errors: [
      ...codesBelow('endpoint.').filter((code) => code !== 'endpoint.promotion.key_missing'),
      'pipeline.execution.concurrency_limit',
      'server.draining',
      ...RUN_FAILURES,
    ],
  })
  async serve(@Req() request: Request, @Res() response: Response): Promise<void> {
    const { path, principal } = contextOf(request);
    if (!principal) throw new PenstockError('auth.api_key.missing');
    if (!request.accepts('application/json')) {
      // Judged after the path and the bindings, so that a stranger learns nothing from it.
      await this.endpoints.resolve(principal, path.path);
      throw new PenstockError('endpoint.not_acceptable');
    }
    const outcome = await this.endpoints.serve(principal, {
      rawPath: path.path,
      query: queryPairs(path.query),
      ...resultOptions(request),
    });
    response.setHeader('DP-Execution-Id', outcome.executionId);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Cache-Control', 'no-store');
    if (outcome.kind === 'data') {
      response.status(200).end(outcome.json);
      return;
    }
    const { executionId: execution_id, expiresAt: expires_at } = outcome;
    const status = `${this.#baseUrl}/api/v1/executions/${execution_id}`;
    response.status(202);
    response.setHeader('Location', status);
    response.setHeader('Retry-After', '5');
    response.end(writeJson({ execution_id, status_url: status, result_url: `${status}/result`, expires_at }));
  }
}
