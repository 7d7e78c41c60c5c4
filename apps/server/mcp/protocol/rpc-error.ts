import type { PenstockError } from '#libs/kernel';

/** Codes of JSON-RPC and of MCP that this door answers with. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  resourceNotFound: -32002,
  /** Of the transport: the headers of a call. */
  refusedTransport: -32000,
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
    /** Of the request, where its body is refused before the library sees it. */
    readonly id: string | number | null = null,
  ) {
    super(message);
  }

  /** With the id that names the call in the log and the audit trail, as every error of every door has it. */
  toldTo(correlationId: string): RpcError {
    return new RpcError(this.code, this.message, { ...this.data, correlation_id: correlationId }, this.id);
  }
}

export function invalidParams(message: string, data?: Readonly<Record<string, unknown>>): RpcError {
  return new RpcError(RPC.invalidParams, message, data);
}

/**
 * A failure that the caller did not make. One that the catalogue knows, such as a database that is away, is told by its
 * code; of any other nothing is told (06 §12).
 */
export function internal({ code, message, details }: PenstockError): RpcError {
  if (code === 'internal') return new RpcError(RPC.internal, 'The server failed to answer.');
  return new RpcError(RPC.internal, message, { code, details });
}

const MAX_NAME_CHARS = 64;

/** A name as it may be repeated in a message: short, and without characters that a terminal obeys. */
export function shownName(name: string): string {
  return name
    .replace(/[\p{Cc}\p{Cf}]/gu, '\uFFFD')
    .slice(0, MAX_NAME_CHARS)
    .toWellFormed();
}
