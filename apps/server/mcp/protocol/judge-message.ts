import { isExactNumber, isJsonObject, type JsonObject, type JsonValue } from '#libs/kernel';
import { RPC, RpcError, shownName } from './rpc-error.js';

const MEMBERS = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);

/**
 * Whether a value is a message of JSON-RPC as the protocol of agents' tools narrows it: ids are texts or whole numbers,
 * parameters an object.
 *
 * @throws RpcError −32600 that says what to change, with the id of the request where it has one
 */
export function judgeMessage(message: JsonValue): void {
  const defect = isJsonObject(message) ? defectOf(message) : 'A message is a JSON object with “jsonrpc”.';
  if (defect !== undefined) throw new RpcError(RPC.invalidRequest, defect, undefined, idOf(message));
}

/** The id of a request, null where it has none that an answer can carry. */
export function idOf(message: JsonValue): string | number | null {
  const id = isJsonObject(message) ? message['id'] : undefined;
  if (typeof id === 'string') return id;
  const number = id !== undefined && isExactNumber(id) ? Number(id.toString()) : undefined;
  return Number.isSafeInteger(number) ? number! : null;
}

function defectOf(message: JsonObject): string | undefined {
  if (message['jsonrpc'] !== '2.0') return '“jsonrpc” must be "2.0".';
  const stray = Object.keys(message).find((member) => !MEMBERS.has(member));
  if (stray !== undefined) return `A message has no member “${shownName(stray)}”. Leave it out.`;
  if (message['id'] !== undefined && idOf(message) === null)
    return '“id” must be a text or a whole number; leave it out only of a notification.';
  if (message['method'] === undefined && (message['result'] !== undefined || message['error'] !== undefined))
    return undefined;
  if (typeof message['method'] !== 'string') return '“method” is required, as a text.';
  const { params } = message;
  if (params === undefined) return undefined;
  if (!isJsonObject(params)) return '“params” must be an object.';
  const meta = params['_meta'];
  if (meta === undefined) return undefined;
  if (!isJsonObject(meta)) return '“params._meta” must be an object.';
  const token = meta['progressToken'];
  if (token !== undefined && idOf({ id: token }) === null)
    return '“params._meta.progressToken” must be a text or a whole number.';
  return undefined;
}
