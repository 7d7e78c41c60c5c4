import { isJsonObject, type JsonValue } from '#libs/kernel';
import { RPC, RpcError } from './rpc-error.js';

export const INITIALIZE = 'initialize';

const TAKES =
  'initialize takes: protocolVersion, a text such as "2025-06-18"; capabilities, an object; clientInfo, an object with name and version.';

/**
 * How a client introduces itself, as much of it as the library needs: what the client can do is not asked of it here.
 *
 * @throws RpcError −32602
 */
export function initializeParams(params: JsonValue | undefined, id: string | number | null): object {
  const given = params !== undefined && isJsonObject(params) ? params : {};
  const { protocolVersion, capabilities, clientInfo } = given;
  if (typeof protocolVersion !== 'string') throw refusal('“protocolVersion” must be a text.', id);
  if (capabilities === undefined || !isJsonObject(capabilities)) throw refusal('“capabilities” must be an object.', id);
  const client = clientInfo !== undefined && isJsonObject(clientInfo) ? clientInfo : {};
  const { name, version } = client;
  if (typeof name !== 'string' || typeof version !== 'string')
    throw refusal('“clientInfo” must be an object with the texts “name” and “version”.', id);
  return { protocolVersion, capabilities: {}, clientInfo: { name, version } };
}

function refusal(problem: string, id: string | number | null): RpcError {
  return new RpcError(RPC.invalidParams, `${problem} ${TAKES}`, undefined, id);
}
