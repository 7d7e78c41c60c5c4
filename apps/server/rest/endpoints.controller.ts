import { Controller, Delete, Get, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { EndpointReference, EndpointService, KeyBindingService } from '#libs/endpoints';
import { writeJson, type Principal } from '#libs/kernel';
import { Caller } from '../http/caller.decorator.js';
import { parseInput, queryText, wholeNumber } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { Paging } from './paging.js';
import { Describe, nothing, raw } from '../http/describe.decorator.js';
import { endpointDocument } from '../openapi/endpoint-document.js';
import { endpointView, keyBinding } from '../openapi/shapes/endpoints.js';
import { listOf, paging } from '../openapi/shapes/envelope.js';

const publication = z.strictObject({
  path: z.string(),
  pipeline: z.string(),
  timeout_seconds: wholeNumber.optional(),
  description: z.string().max(10_000).optional(),
  enabled: z.boolean().optional(),
});
const change = publication.omit({ path: true }).partial();
const path = z.strictObject({ path: z.string() });
const binding = z
  .strictObject({ path_prefix: z.string(), api_key_id: z.string().optional(), api_key_name: z.string().optional() })
  .refine((value) => (value.api_key_id === undefined) !== (value.api_key_name === undefined), {
    message: 'must name the key by “api_key_id” or by “api_key_name”',
  });

/** Publishing pipelines below `/api/x`, and the keys that may call them (03 §7). */
@Controller('/api/v1/endpoints')
export class EndpointsController {
  constructor(
    private readonly endpoints: EndpointService,
    private readonly bindings: KeyBindingService,
    private readonly reference: EndpointReference,
    private readonly paging: Paging,
  ) {}

  @Post()
  @Operation('endpoint.publish')
  @Describe('Publish a released read-only pipeline at a path.', {
    body: publication,
    answers: { 201: endpointView },
    errors: [
      'pipeline.execution.not_found',
      'endpoint.path_invalid',
      'endpoint.path_variable_unknown',
      'endpoint.path_conflict',
      'endpoint.pipeline_not_readonly',
      'endpoint.pipeline_not_released',
    ],
  })
  publish(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    return this.endpoints.publish(caller, parseInput(publication, request.body));
  }

  @Get()
  @Operation('endpoint.read')
  @Describe('List the published endpoints, or read one by `path`.', {
    query: { ...paging, path: z.string().optional() },
    answers: { 200: z.union([listOf(endpointView), endpointView]) },
    errors: ['graphql.cursor_invalid', 'endpoint.not_found'],
  })
  async list(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const one = queryText(request, 'path');
    if (one !== undefined) return this.endpoints.read(caller, one);
    return this.paging.list(request, {
      list: 'endpoints',
      page: (page) => this.endpoints.list(caller, page),
      count: () => this.endpoints.count(caller),
      placeOf: ({ path }) => path,
    });
  }

  /** A document of its own for whoever calls this one path (03 §8). */
  @Get('openapi.json')
  @Operation('endpoint.read')
  @Describe('Read the OpenAPI document of one endpoint, with the types of its parameters and columns.', {
    query: { path: z.string() },
    answers: { 200: raw('application/json', 'OpenAPI 3.1, bare; columns as the newest run on record had them.') },
    errors: ['endpoint.not_found'],
  })
  async openapi(@Caller() caller: Principal, @Req() request: Request, @Res() response: Response): Promise<void> {
    const address = parseInput(path, { path: queryText(request, 'path') });
    const contract = await this.reference.describe(caller, address.path);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Cache-Control', 'no-store');
    response.end(writeJson(endpointDocument(contract)));
  }

  @Put()
  @Operation('endpoint.publish')
  @Describe('Change pipeline, timeout, description or whether it serves.', {
    query: { path: z.string() },
    body: change,
    answers: { 200: endpointView },
    errors: [
      'endpoint.not_found',
      'pipeline.execution.not_found',
      'endpoint.path_variable_unknown',
      'endpoint.pipeline_not_readonly',
      'endpoint.pipeline_not_released',
    ],
  })
  update(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const address = parseInput(path, { path: queryText(request, 'path') });
    return this.endpoints.update(caller, address.path, parseInput(change, request.body));
  }

  @Delete()
  @Operation('endpoint.unpublish')
  @Describe('Stop serving a path; its key bindings stay.', {
    query: { path: z.string() },
    answers: { 204: nothing('Unpublished.') },
    errors: ['endpoint.not_found'],
  })
  async unpublish(@Caller() caller: Principal, @Req() request: Request): Promise<void> {
    await this.endpoints.unpublish(caller, parseInput(path, { path: queryText(request, 'path') }).path);
  }

  @Get('bindings')
  @Operation('endpoint.read')
  @Describe('List which keys are bound to which parts of the tree.', {
    answers: { 200: z.object({ bindings: z.array(keyBinding) }) },
    errors: [],
  })
  async listBindings(@Caller() caller: Principal): Promise<unknown> {
    return { bindings: await this.bindings.list(caller) };
  }

  @Post('bindings')
  @Operation('api_key.bind')
  @Describe('Bind an endpoint key to a part of the tree.', {
    body: binding,
    answers: { 201: keyBinding },
    errors: ['auth.api_key.not_found', 'endpoint.path_invalid'],
  })
  bind(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    return this.bindings.bind(caller, addressOf(request.body));
  }

  @Delete('bindings')
  @Operation('api_key.bind')
  @Describe('Take a binding back.', {
    query: { path_prefix: z.string(), api_key_id: z.string().optional(), api_key_name: z.string().optional() },
    answers: { 204: nothing('Unbound.') },
    errors: ['auth.api_key.not_found', 'endpoint.path_invalid'],
  })
  async unbind(@Caller() caller: Principal, @Req() request: Request): Promise<void> {
    const query = Object.fromEntries(
      ['path_prefix', 'api_key_id', 'api_key_name'].flatMap((name) => {
        const value = queryText(request, name);
        return value === undefined ? [] : [[name, value]];
      }),
    );
    await this.bindings.unbind(caller, addressOf(query));
  }
}

function addressOf(input: unknown) {
  const { path_prefix, api_key_id, api_key_name } = parseInput(binding, input);
  return { pathPrefix: path_prefix, apiKeyId: api_key_id, apiKeyName: api_key_name };
}
