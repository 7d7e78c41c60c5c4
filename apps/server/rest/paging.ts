import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Configuration, type KeysetListing, type KeysetPage } from '#libs/kernel';
import { Cursors } from '../graphql/paging/cursor.js';
import { queryInteger, queryText, refuseQuery } from '../http/input.js';

/** A list of a family, as the door reads it. */
export interface ListSource<V> {
  /** Name of the list: a cursor of another list, or of this one filtered otherwise, is refused. */
  list: string;
  filter?: object;
  page: (page: KeysetPage) => Promise<KeysetListing<V>>;
  /** What the caller can see in all. */
  count: () => Promise<number>;
  /** The place of a row, as the service takes it back. */
  placeOf: (row: V) => string;
}

export interface ListBody<T> {
  items: T[];
  pagination: {
    /** Absent from a page by key: it has no position. */
    offset?: number;
    limit: number;
    total: number;
    has_more: boolean;
    next_cursor: string | null;
  };
}

/** A page that was asked for, by position or by key. */
export interface AskedPage {
  keyset: KeysetPage;
  limit: number;
  offset?: number;
}

/** Pages of every list of this door: `offset` and `limit`, or `after` with what `next_cursor` gave (03 §2). */
@Injectable()
export class Paging {
  readonly #default: number;
  readonly #max: number;

  constructor(configuration: Configuration) {
    this.#default = configuration.get('datapipelines.web.page-default-limit');
    this.#max = configuration.get('datapipelines.web.page-max-limit');
  }

  /** @throws `graphql.cursor_invalid`; the generic 400 for `after` together with `offset` */
  of(request: Request, cursors: Cursors): AskedPage {
    const limit = Math.min(Math.max(1, queryInteger(request, 'limit') ?? this.#default), this.#max);
    const asked = queryInteger(request, 'offset');
    const after = queryText(request, 'after');
    if (after === undefined) {
      const offset = Math.max(0, asked ?? 0);
      return { keyset: { first: limit, skip: offset }, limit, offset };
    }
    if (asked !== undefined) {
      refuseQuery('offset', 'field', 'Give “after” or “offset”, not both: “after” says where the page begins.');
    }
    return { keyset: { first: limit, after: cursors.decode(after) }, limit };
  }

  /** A level of a tree of names, with the cursor of the entries that stand in it. */
  async level<L extends { has_more: boolean }>(
    request: Request,
    source: {
      list: string;
      filter: object;
      read: (page: KeysetPage) => Promise<L>;
      lastOf: (level: L) => string | undefined;
    },
  ): Promise<L & { next_cursor: string | null }> {
    const cursors = new Cursors(source.list, source.filter);
    const level = await source.read(this.of(request, cursors).keyset);
    const last = level.has_more ? source.lastOf(level) : undefined;
    return { ...level, next_cursor: last === undefined ? null : cursors.encode(last) };
  }

  async list<V>(request: Request, source: ListSource<V>): Promise<ListBody<V>> {
    const cursors = new Cursors(source.list, source.filter);
    const { keyset, ...asked } = this.of(request, cursors);
    const [{ items, hasNext }, total] = await Promise.all([source.page(keyset), source.count()]);
    const last = hasNext ? items.at(-1) : undefined;
    const next_cursor = last === undefined ? null : cursors.encode(source.placeOf(last));
    return { items, pagination: { ...asked, total, has_more: hasNext, next_cursor } };
  }
}

/** The same page, with its rows in another form. */
export function shownAs<V, T>({ items, pagination }: ListBody<V>, form: (row: V) => T): ListBody<T> {
  return { items: items.map(form), pagination };
}
