import type { Type } from '@nestjs/common';
import { ArgsType, Field, Int, ObjectType } from '@nestjs/graphql';
import type { KeysetListing } from '#libs/kernel';
import type { Lazy } from '../engine/lazy.js';
import type { Cursors } from './cursor.js';

@ObjectType('PageInfo', { description: 'What lies around a page, and how to ask for it.' })
export class PageInfoType {
  @Field(() => Boolean, { description: 'Whether asking with `first` and `after: endCursor` would give more.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'Whether asking with `last` and `before: startCursor` would give more.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'Cursor of the first edge; null on an empty page.' })
  startCursor!: string | null;

  @Field(() => String, { nullable: true, description: 'Cursor of the last edge; null on an empty page.' })
  endCursor!: string | null;
}

/** `first` with `after`, or `last` with `before`; the gate has judged them before any resolver runs. */
@ArgsType()
export class PageArgs {
  @Field(() => Int, {
    nullable: true,
    description: 'How many from the front: default 50, 0 for the count alone; excludes `last` and `before`.',
  })
  first?: number | null;

  @Field(() => String, {
    nullable: true,
    description: 'The `endCursor` of the page before; only with the same filter and order.',
  })
  after?: string | null;

  @Field(() => Int, { nullable: true, description: 'How many from the end; excludes `first` and `after`.' })
  last?: number | null;

  @Field(() => String, {
    nullable: true,
    description: 'The `startCursor` of the page behind; only with the same filter and order.',
  })
  before?: string | null;
}

export interface Edge<N> {
  cursor: string;
  node: N;
}

export interface Connection<N> {
  edges: Edge<N>[];
  nodes: N[];
  pageInfo: PageInfoType;
  totalCount: Lazy<number>;
}

/** The connection type of a node type: `XConnection {edges {cursor node} nodes pageInfo totalCount}`. */
export function connectionType<N>(name: string, node: () => Type<N>): Type<Connection<N>> {
  @ObjectType(`${name}Edge`, { description: 'An object of a page, with its place in the list.' })
  class EdgeType {
    @Field(() => String, { description: 'Opaque place of this object in the list, for `after` and `before`.' })
    cursor!: string;

    @Field(node, { description: 'The listed object itself.' })
    node!: N;
  }

  @ObjectType(`${name}Connection`, {
    description: 'A page of a list, cut with `first` and `after` or `last` and `before`.',
  })
  class ConnectionType {
    @Field(() => [EdgeType], { description: 'The objects of the page, each with its cursor.' })
    edges!: EdgeType[];

    @Field(() => [node()], { description: 'The same objects without cursors.' })
    nodes!: N[];

    @Field(() => PageInfoType, { description: 'Whether there is more on either side.' })
    pageInfo!: PageInfoType;

    @Field(() => Int, {
      description: 'Size of the whole list under the filter; counted only when selected, which costs 5.',
    })
    totalCount!: Lazy<number>;
  }
  return ConnectionType;
}

export interface PageSource<V, N> {
  cursors: Cursors;
  /** The sort key of a row, as the service takes it back. */
  keyOf: (row: V) => string;
  nodeOf: (row: V) => N;
  count: Lazy<number>;
}

/** A page of rows as a connection. Cursors are written where they are selected: `nodes` alone needs none. */
export function toConnection<V, N>(listing: KeysetListing<V>, source: PageSource<V, N>): Connection<N> {
  const { items, hasNext, hasPrevious } = listing;
  const nodes = items.map((row) => source.nodeOf(row));
  const cursorOf = (row: V | undefined): string | null =>
    row === undefined ? null : source.cursors.encode(source.keyOf(row));
  return {
    nodes,
    get edges() {
      return items.map((row, index) => ({ cursor: source.cursors.encode(source.keyOf(row)), node: nodes[index] as N }));
    },
    get pageInfo() {
      return {
        hasNextPage: hasNext,
        hasPreviousPage: hasPrevious,
        startCursor: cursorOf(items[0]),
        endCursor: cursorOf(items.at(-1)),
      };
    },
    totalCount: source.count,
  };
}
