/**
 * The name resolves to nothing now. At save that is no defect (the server may come later); at connect it is a failed
 * connection, which the caller reports in its own terms.
 */
export class HostUnresolved extends Error {
  override readonly name = 'HostUnresolved';

  constructor(
    readonly host: string,
    options?: { cause?: unknown },
  ) {
    super('The host name does not resolve.', options);
  }
}
