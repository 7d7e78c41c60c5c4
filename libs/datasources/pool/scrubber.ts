import { DriverFailure } from '../drivers/driver-failure.js';

/** Shorter needles would blank ordinary words. */
const SHORTEST = 3;

/** Removes a datasource's own secrets from what its driver says. */
export class Scrubber {
  readonly #secrets: readonly (string | null)[];
  readonly #needles: readonly string[];

  /** Longer needles first, so that a URL goes whole before a name in it. */
  constructor(secrets: readonly (string | null)[]) {
    this.#secrets = secrets;
    const forms = secrets.flatMap((secret) =>
      secret === null || secret.length < SHORTEST
        ? []
        : [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)],
    );
    this.#needles = [...new Set(forms)].sort((left, right) => right.length - left.length);
  }

  /** The same with more to remove. */
  with(more: readonly (string | null)[]): Scrubber {
    return new Scrubber([...this.#secrets, ...more]);
  }

  text(text: string): string {
    return this.#needles.reduce((cleaned, needle) => cleaned.replaceAll(needle, '***'), text);
  }

  /** The same failure without the secrets; its cause, which would still hold them, is left out then. */
  failure(error: unknown): unknown {
    if (!(error instanceof DriverFailure)) return error;
    const cleaned = this.text(error.message);
    const { driverCode, reason, commitUnknown } = error;
    const holds =
      cleaned !== error.message ||
      (error.cause instanceof Error && this.text(error.cause.message) !== error.cause.message);
    return holds ? new DriverFailure(error.kind, cleaned, { driverCode, reason, commitUnknown }) : error;
  }
}
