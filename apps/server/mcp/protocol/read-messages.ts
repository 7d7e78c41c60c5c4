import { isJsonObject, isPenstockError, readJsonBytes, type JsonValue } from '#libs/kernel';
import { plain } from './exact-json.js';
import { RPC, RpcError } from './rpc-error.js';

/** Most messages of one batch (06 §12). */
const MAX_BATCH = 20;

/** What one request body says. */
export interface Messages {
  /** For the protocol's library: plain values, a list if a list was sent. */
  plain: unknown;
  /** How many there are. */
  count: number;
  /** `params` of each request as they were written, by the id of the request. */
  exactParams: ReadonlyMap<string | number, JsonValue | undefined>;
  /** Whether any of them asks to be told how a call gets on. */
  wantsProgress: (tool: string) => boolean;
}

/**
 * Reads one body: a message, or up to twenty. Numbers of arguments keep their digits, which the protocol's library would
 * take from them (01 §1).
 *
 * @throws RpcError −32700 for what is no JSON text as we read it, −32600 for what is no batch
 */
export function readMessages(body: Uint8Array | undefined): Messages {
  const value = parsed(body ?? new Uint8Array());
  const messages = Array.isArray(value) ? value : [value];
  if (messages.length === 0) throw new RpcError(RPC.invalidRequest, 'The batch is empty. Send at least one message.');
  if (messages.length > MAX_BATCH) {
    throw new RpcError(
      RPC.invalidRequest,
      `A batch holds at most ${MAX_BATCH} messages; this one has ${messages.length}.`,
    );
  }
  const exactParams = new Map<string | number, JsonValue | undefined>();
  const calls: { tool: unknown; token: unknown }[] = [];
  for (const message of messages) {
    if (!isJsonObject(message)) throw new RpcError(RPC.invalidRequest, 'A message is a JSON object with “jsonrpc”.');
    const id = message['id'] === undefined ? undefined : plain(message['id']);
    if (message['method'] === undefined || (typeof id !== 'string' && typeof id !== 'number')) continue;
    if (exactParams.has(id)) throw new RpcError(RPC.invalidRequest, 'Two messages of the batch have the same “id”.');
    const params = message['params'];
    exactParams.set(id, params);
    if (!isJsonObject(params)) continue;
    const meta = params['_meta'];
    calls.push({ tool: params['name'], token: isJsonObject(meta) ? meta['progressToken'] : undefined });
  }
  return {
    plain: Array.isArray(value) ? messages.map(withoutArguments) : withoutArguments(value),
    count: messages.length,
    exactParams,
    wantsProgress: (tool) => calls.some((call) => call.tool === tool && call.token !== undefined),
  };
}

function parsed(bytes: Uint8Array): JsonValue {
  try {
    return readJsonBytes(bytes);
  } catch (error) {
    if (!isPenstockError(error)) throw error;
    const { reason, line, column } = error.details;
    throw new RpcError(RPC.parseError, `The body is no JSON text that is read here: ${error.message}`, {
      reason,
      ...(line === undefined ? {} : { line, column }),
    });
  }
}

/** Arguments are judged by ourselves, from the exact ones; the library needs no second copy of them. */
function withoutArguments(message: JsonValue): unknown {
  if (!isJsonObject(message) || !isJsonObject(message['params'])) return plain(message);
  const { arguments: _arguments, ...params } = message['params'];
  return plain({ ...message, params });
}
