const CRLF = '\r\n';

/** One or more whole blocks of a stream, turned into bytes once for all the sockets they go to. */
export class SseBlock {
  #plain: Buffer | undefined;
  #chunk: Buffer | undefined;

  constructor(readonly text: string) {}

  /** As the body has it: by itself, or as one chunk of HTTP's chunked transfer coding. */
  bytes(chunked: boolean): Buffer {
    if (!chunked) return (this.#plain ??= Buffer.from(this.text));
    return (this.#chunk ??= Buffer.from(`${Buffer.byteLength(this.text).toString(16)}${CRLF}${this.text}${CRLF}`));
  }
}
