import { Controller, Delete, Get, Post, Put, Req } from '@nestjs/common';
import type { Request } from 'express';
import { z } from 'zod';
import { EndpointService, KeyBindingService } from '#libs/endpoints';
import type { Principal } from '#libs/kernel';
import { Caller } from '../http/caller.decorator.js';
import { listBody, parseInput, queryText, wholeNumber } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { Paging } from './paging.js';

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
    private readonly paging: Paging,
  ) {}

  @Post()
  @Operation('endpoint.publish')
  publish(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    return this.endpoints.publish(caller, parseInput(publication, request.body));
  }

  @Get()
  @Operation('endpoint.read')
  async list(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const one = queryText(request, 'path');
    if (one !== undefined) return this.endpoints.read(caller, one);
    const page = this.paging.of(request);
    return listBody(page, await this.endpoints.list(caller, page));
  }

  @Put()
  @Operation('endpoint.publish')
  update(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const address = parseInput(path, { path: queryText(request, 'path') });
    return this.endpoints.update(caller, address.path, parseInput(change, request.body));
  }

  @Delete()
  @Operation('endpoint.unpublish')
  async unpublish(@Caller() caller: Principal, @Req() request: Request): Promise<void> {
    await this.endpoints.unpublish(caller, parseInput(path, { path: queryText(request, 'path') }).path);
  }

  @Get('bindings')
  @Operation('endpoint.read')
  async listBindings(@Caller() caller: Principal): Promise<unknown> {
    return { bindings: await this.bindings.list(caller) };
  }

  @Post('bindings')
  @Operation('api_key.bind')
  bind(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    return this.bindings.bind(caller, addressOf(request.body));
  }

  @Delete('bindings')
  @Operation('api_key.bind')
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
