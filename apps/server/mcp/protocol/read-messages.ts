import { isJsonObject, isPenstockError, readJsonBytes, type JsonValue } from '#libs/kernel';
import { plain } from './exact-json.js';
import { idOf, judgeMessage } from './judge-message.js';
import { INITIALIZE, initializeParams } from './initialize-params.js';
import { RPC, RpcError } from './rpc-error.js';

/** Most messages of one batch (06 §12). */
const MAX_BATCH = 20;

/** Nothing is asked of clients, so whatever one answers goes nowhere. */
const ANSWER_TO_NOTHING = { jsonrpc: '2.0', id: 0, result: {} };

/** What one request body says. */
export interface Messages {
  /** For the protocol's library: what it has to know of them, a list if a list was sent. */
  plain: unknown;
  /** How many there are. */
  count: number;
  /** `params` of each request as they were written, by the id of the request. */
  exactParams: ReadonlyMap<string | number, JsonValue | undefined>;
  /** Whether a client introduces itself: what is negotiated with it is not settled yet. */
  isInitialize: boolean;
  /** Whether any of them asks to be told how a call gets on. */
  wantsProgress: (tool: string) => boolean;
}

/**
 * Reads one body: a message, or up to twenty. Numbers of arguments keep their digits, which the protocol's library would
 * take from them (01 §1).
 *
 * @throws RpcError −32700 for what is no JSON text as we read it, −32600 for what is no message, −32602 for a client that
 *   introduces itself wrongly
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
    judgeMessage(message);
    const id = idOf(message);
    if (!isJsonObject(message) || message['method'] === undefined || id === null) continue;
    if (exactParams.has(id)) throw new RpcError(RPC.invalidRequest, 'Two messages of the batch have the same “id”.');
    const params = message['params'];
    exactParams.set(id, params);
    if (!isJsonObject(params)) continue;
    const meta = params['_meta'];
    calls.push({ tool: params['name'], token: isJsonObject(meta) ? meta['progressToken'] : undefined });
  }
  const isInitialize = messages.some((message) => isJsonObject(message) && message['method'] === INITIALIZE);
  if (isInitialize && messages.length > 1)
    throw new RpcError(RPC.invalidRequest, '“initialize” is sent by itself, not in a batch.');
  return {
    plain: Array.isArray(value) ? messages.map(forLibrary) : forLibrary(value),
    count: messages.length,
    exactParams,
    isInitialize,
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

/**
 * A message without its parameters, which are judged by ourselves from the exact ones. So no notice of a client can make
 * the library forget a call whose answer the same body waits for, and what a client says of tasks is passed over, as the
 * protocol asks of a server that has none.
 */
function forLibrary(message: JsonValue): unknown {
  if (!isJsonObject(message) || message['method'] === undefined) return ANSWER_TO_NOTHING;
  const { params, ...rest } = message;
  if (message['method'] !== INITIALIZE) return plain(rest);
  return { ...(plain(rest) as object), params: initializeParams(params, idOf(message)) };
}
