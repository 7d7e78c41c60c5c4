import { Injectable } from '@nestjs/common';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Notification, Request, Result } from '@modelcontextprotocol/sdk/types.js';
import { isExactNumber, isJsonObject, Logger, type JsonObject, type JsonValue, type Principal } from '#libs/kernel';
import { BuildInfo } from '../../health/build-info.js';
import { countError } from '../../health/error-metrics.js';
import { toPenstockError } from '../../http/failure.js';
import { LISTED_PROMPTS, promptMessages } from '../prompts/prompt-book.js';
import { ResourceListing } from '../resources/resource-listing.js';
import { ResourceReader } from '../resources/resource-reader.js';
import { RESOURCE_TEMPLATES } from '../resources/resource-templates.js';
import { LISTED_TOOLS } from '../tools/tool-catalogue.js';
import { ToolDispatcher } from '../tools/tool-dispatcher.js';
import type { ProgressStep } from '../tools/tool.js';
import { INSTRUCTIONS } from './instructions.js';
import type { Messages } from './read-messages.js';
import { internal, invalidParams, RPC, RpcError, shownName } from './rpc-error.js';

type Extra = RequestHandlerExtra<Request, Notification>;

/** What one HTTP request brings. */
export interface McpRequest {
  principal: Principal;
  messages: Messages;
  /** Aborts when the client is gone. */
  signal: AbortSignal;
}

/** The methods of the protocol. A server of the library lives for one HTTP request and knows one principal. */
@Injectable()
export class RequestServers {
  constructor(
    private readonly tools: ToolDispatcher,
    private readonly listing: ResourceListing,
    private readonly resources: ResourceReader,
    private readonly build: BuildInfo,
    private readonly log: Logger,
  ) {}

  create(request: McpRequest): Server {
    const server = new Server(
      { name: 'datapipelines', title: 'Penstock', version: this.build.version },
      {
        capabilities: {
          tools: { listChanged: false },
          resources: { listChanged: false, subscribe: false },
          prompts: { listChanged: false },
        },
        instructions: INSTRUCTIONS,
        jsonSchemaValidator: JUDGES_NOTHING,
      },
    );
    // Parameters are read from the exact text: the library's own schemas would have opinions of their own about them.
    server.fallbackRequestHandler = async ({ method }, extra) => {
      try {
        return await this.#answer(method, paramsOf(request, extra), request, extra as Extra);
      } catch (failure) {
        throw this.#told(failure, method, request);
      }
    };
    server.onerror = (error) =>
      this.log.debug('An answer could not be sent.', { correlation_id: request.principal.correlationId, error });
    return server;
  }

  async #answer(method: string, params: JsonObject, request: McpRequest, extra: Extra): Promise<Result> {
    switch (method) {
      case 'tools/list':
        refuseCursor(params);
        return { tools: LISTED_TOOLS };
      case 'tools/call':
        return this.#call(params, request, extra);
      case 'resources/list':
        return { ...(await this.listing.page(request.principal, optionalText(params, 'cursor'))) };
      case 'resources/templates/list':
        refuseCursor(params);
        return { resourceTemplates: RESOURCE_TEMPLATES };
      case 'resources/read':
        return { contents: [await this.resources.read(request.principal, requiredText(params, 'uri'))] };
      case 'prompts/list':
        refuseCursor(params);
        return { prompts: LISTED_PROMPTS };
      case 'prompts/get':
        return promptMessages(params['name'], params['arguments']);
      default:
        throw new RpcError(RPC.methodNotFound, `There is no method “${shownName(method)}” here.`);
    }
  }

  /** What went wrong as the protocol tells it: what is not ours to show stays in the log, under the id that is shown. */
  #told(failure: unknown, method: string, { principal: { correlationId }, signal }: McpRequest): RpcError {
    if (failure instanceof RpcError) return failure.toldTo(correlationId);
    const error = toPenstockError(failure);
    countError(error);
    if (!signal.aborted) {
      this.log.error('A method failed.', { method, correlation_id: correlationId, error: error.cause ?? error });
    }
    return internal(error).toldTo(correlationId);
  }

  #call(params: JsonObject, { principal, signal }: McpRequest, extra: Extra): Promise<Result> {
    return this.tools.call(requiredText(params, 'name'), params['arguments'], {
      principal,
      signal,
      progress: progressOf(params, extra),
    });
  }
}

/** The library makes a schema compiler for each server; only servers that question their clients need one. */
const JUDGES_NOTHING = {
  getValidator: () => () => {
    throw new RpcError(RPC.internal, 'Nothing is asked of clients here.');
  },
};

function paramsOf({ messages }: McpRequest, { requestId }: { requestId: string | number }): JsonObject {
  const params = messages.exactParams.get(requestId);
  return params !== undefined && isJsonObject(params) ? params : {};
}

function requiredText(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== 'string') throw invalidParams(`“${name}” is required, as a text.`);
  return value;
}

function optionalText(params: JsonObject, name: string): string | undefined {
  return params[name] === undefined ? undefined : requiredText(params, name);
}

/** Everything fits one page, so no cursor was ever given out. */
function refuseCursor(params: JsonObject): void {
  if (params['cursor'] !== undefined)
    throw invalidParams('“cursor” is none of this list. Leave it out: there is one page.');
}

function progressOf(params: JsonObject, extra: Extra): ((step: ProgressStep) => Promise<void>) | undefined {
  const meta = params['_meta'];
  const progressToken = isJsonObject(meta) ? tokenOf(meta['progressToken']) : undefined;
  if (progressToken === undefined) return undefined;
  return async (step) => {
    await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, ...step } });
  };
}

function tokenOf(value: JsonValue | undefined): string | number | undefined {
  if (isExactNumber(value)) return Number(value.toString());
  return typeof value === 'string' ? value : undefined;
}
