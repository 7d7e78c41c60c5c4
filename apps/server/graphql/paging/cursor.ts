import { createHash } from 'node:crypto';
import { canonicalJson, isPenstockError, PenstockError, readJson, writeJson, type KeysetPage } from '#libs/kernel';

/** Longer texts are not ours: no sort key is. */
const MAX_CURSOR_CHARS = 2048;
const HASH_CHARS = 12;

/** `first` with `after` or `last` with `before`, as they stand in an operation. */
export interface PageArguments {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
}

/**
 * Cursors of one list: base64url over the sort key and a hash of the list and its filter (03 §12). A cursor of another
 * list, or of the same list filtered otherwise, points to nothing here and is refused.
 */
export class Cursors {
  #known: string | undefined;

  constructor(
    private readonly list: string,
    private readonly filter: object = {},
  ) {}

  encode(key: string): string {
    return Buffer.from(writeJson([this.#hash, key])).toString('base64url');
  }

  /** Made at its first use: a page that neither came from a cursor nor shows one needs none. */
  get #hash(): string {
    this.#known ??= createHash('sha256')
      .update(canonicalJson([this.list, this.filter]))
      .digest('hex')
      .slice(0, HASH_CHARS);
    return this.#known;
  }

  /** @throws `graphql.cursor_invalid` */
  decode(cursor: string): string {
    const parts = cursor.length <= MAX_CURSOR_CHARS && /^[A-Za-z0-9_-]+$/.test(cursor) ? unpacked(cursor) : undefined;
    if (!Array.isArray(parts) || parts.length !== 2 || parts[0] !== this.#hash || typeof parts[1] !== 'string') {
      throw new PenstockError('graphql.cursor_invalid', {
        message: 'The cursor is broken, or of another list or filter: start again without it.',
      });
    }
    return parts[1];
  }

  /** The page by key that a service understands. */
  page({ first, after, last, before }: PageArguments): KeysetPage {
    return {
      ...(first == null ? {} : { first }),
      ...(after == null ? {} : { after: this.decode(after) }),
      ...(last == null ? {} : { last }),
      ...(before == null ? {} : { before: this.decode(before) }),
    };
  }
}

function unpacked(cursor: string): unknown {
  try {
    return readJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch (error) {
    if (isPenstockError(error)) return undefined;
    throw error;
  }
}
