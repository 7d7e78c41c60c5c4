import { Controller, Post, Req, Res } from '@nestjs/common';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Request, Response } from 'express';
import { Configuration, writeJson, type Principal } from '#libs/kernel';
import { Caller } from '../http/caller.decorator.js';
import { clientGone } from '../http/client-gone.js';
import { Operation } from '../http/operation.decorator.js';
import { contextOf } from '../http/request-context.js';
import { headerRefusal } from './protocol/judge-headers.js';
import { readMessages, type Messages } from './protocol/read-messages.js';
import { RequestServers } from './protocol/request-server.js';
import { RPC, RpcError } from './protocol/rpc-error.js';
import { refuseTask } from './protocol/task-header.js';
import { z } from 'zod';
import { Describe, nothing, raw } from '../http/describe.decorator.js';

/** The one tool whose call may take long, and which then tells how it gets on. */
const LONG_TOOL = 'pipelines_execute';

/**
 * The MCP door: stateless streamable HTTP, one server of the protocol's library per request (06 §12). `reference.read` is
 * what every user key may do; each tool is judged by its own operation.
 */
@Controller('/mcp')
export class McpController {
  readonly #commentMs: number;

  constructor(
    private readonly servers: RequestServers,
    configuration: Configuration,
  ) {
    this.#commentMs = configuration.get('datapipelines.sse.heartbeat-interval-seconds') * 1000;
  }

  @Post()
  @Operation('reference.read')
  @Describe('Speak the Model Context Protocol: JSON-RPC over streamable HTTP.', {
    body: z.unknown().describe('One JSON-RPC message, or a list of them.'),
    answers: {
      200: raw('application/json', 'JSON-RPC responses, or an event stream of them.'),
      202: nothing('Notifications only.'),
    },
    errors: ['playbook.not_found'],
  })
  async answer(@Caller() principal: Principal, @Req() request: Request, @Res() response: Response): Promise<void> {
    refuseTask(request);
    const messages = readable(request, response, principal);
    if (!messages) return;
    // A batch is worth its messages; the first is spent already.
    await contextOf(request).spend?.(messages.count - 1);
    const server = this.servers.create({ principal, messages, signal: clientGone(response).signal });
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: !messages.wantsProgress(LONG_TOOL),
      keepAliveMs: this.#commentMs,
    });
    response.once('close', () => void server.close());
    response.setHeader('Cache-Control', 'no-store');
    await server.connect(transport as Transport);
    await transport.handleRequest(request, response, messages.plain);
  }
}

/** The messages, or undefined when the refusal is sent. */
function readable(request: Request, response: Response, principal: Principal): Messages | undefined {
  try {
    const messages = readMessages(request.body as Uint8Array | undefined);
    const refusal = headerRefusal(request, messages);
    if (refusal) sendRefusal(response, refusal.status, refusal.error, principal);
    return refusal ? undefined : messages;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    sendRefusal(response, error.code === RPC.invalidParams ? 200 : 400, error, principal);
    return undefined;
  }
}

function sendRefusal(response: Response, status: number, refusal: RpcError, { correlationId }: Principal): void {
  const { code, message, data, id } = refusal.toldTo(correlationId);
  response.status(status);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  response.end(writeJson({ jsonrpc: '2.0', id, error: { code, message, data } }));
}
