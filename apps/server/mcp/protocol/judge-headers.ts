import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import type { Request } from 'express';
import type { Messages } from './read-messages.js';
import { RPC, RpcError, shownName } from './rpc-error.js';

/** A refusal with the HTTP status that goes with it. */
export interface HeaderRefusal {
  status: 400 | 406 | 415;
  error: RpcError;
}

const BOTH = ['application/json', 'text/event-stream'];

/** What the headers of a call must say before it is answered (06 §12); undefined when they do. */
export function headerRefusal(request: Request, { isInitialize }: Messages): HeaderRefusal | undefined {
  const accept = request.get('Accept') ?? '';
  if (!BOTH.every((type) => accept.includes(type)))
    return refusal(406, `Send “Accept: ${BOTH.join(', ')}”: an answer may be either.`);
  if (!/^application\/json\s*(;|$)/i.test(request.get('Content-Type') ?? ''))
    return refusal(415, 'Send “Content-Type: application/json”.');
  const version = request.get('MCP-Protocol-Version');
  if (isInitialize || version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return undefined;
  const known = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
  return refusal(
    400,
    `“MCP-Protocol-Version: ${shownName(version)}” is not spoken here. Send the version that initialize answered: ${known}.`,
  );
}

function refusal(status: HeaderRefusal['status'], message: string): HeaderRefusal {
  return { status, error: new RpcError(RPC.refusedTransport, message) };
}
