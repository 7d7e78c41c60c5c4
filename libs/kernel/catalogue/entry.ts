/** One row of the catalogue. Codes are additive and never renamed (contract 03 §10). */
export interface CatalogueEntry {
  /** HTTP status. null: recorded or sent as a warning, never the status of a response. */
  status: number | null;
  /** A second status the same code may answer with; the thrower then names which (`PenstockErrorOptions.status`). */
  alternateStatus?: number;
  /** What happened, one sentence; the default `message`. */
  title: string;
  /** How to mend it, for a person who sees this code for the first time; the wire's `user_message`. */
  fix: string;
}
