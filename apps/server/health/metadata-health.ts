/** Asks the metadata database for a sign of life; bound to the pool by the composition root. */
export abstract class MetadataHealth {
  abstract check(): Promise<void>;
}
