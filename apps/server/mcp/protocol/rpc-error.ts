/** Codes of JSON-RPC and of MCP that this door answers with. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  resourceNotFound: -32002,
} as const;

/**
 * A failure of the protocol itself: what the client asked cannot be understood. What the application refuses is a
 * result with `isError` instead, so that a model reads it and mends its call (06 §12).
 */
export class RpcError extends Error {
  override readonly name = 'RpcError';

  constructor(
    readonly code: (typeof RPC)[keyof typeof RPC],
    message: string,
    readonly data?: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }
}

export function invalidParams(message: string, data?: Readonly<Record<string, unknown>>): RpcError {
  return new RpcError(RPC.invalidParams, message, data);
}
