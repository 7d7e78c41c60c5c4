import type { Type } from '@nestjs/common';
import { ArgsType, Field, Int, ObjectType } from '@nestjs/graphql';
import type { KeysetListing } from '#libs/kernel';
import type { Lazy } from '../engine/lazy.js';
import type { Cursors } from './cursor.js';

@ObjectType('PageInfo')
export class PageInfoType {
  @Field(() => Boolean)
  hasNextPage!: boolean;

  @Field(() => Boolean)
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true })
  startCursor!: string | null;

  @Field(() => String, { nullable: true })
  endCursor!: string | null;
}

/** `first` with `after`, or `last` with `before`; the gate has judged them before any resolver runs. */
@ArgsType()
export class PageArgs {
  @Field(() => Int, { nullable: true, description: 'Default 50.' })
  first?: number | null;

  @Field(() => String, { nullable: true })
  after?: string | null;

  @Field(() => Int, { nullable: true })
  last?: number | null;

  @Field(() => String, { nullable: true })
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
  @ObjectType(`${name}Edge`)
  class EdgeType {
    @Field(() => String)
    cursor!: string;

    @Field(node)
    node!: N;
  }

  @ObjectType(`${name}Connection`)
  class ConnectionType {
    @Field(() => [EdgeType])
    edges!: EdgeType[];

    @Field(() => [node()])
    nodes!: N[];

    @Field(() => PageInfoType)
    pageInfo!: PageInfoType;

    @Field(() => Int)
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

/** A page of rows as a connection. */
export function toConnection<V, N>(listing: KeysetListing<V>, source: PageSource<V, N>): Connection<N> {
  const edges = listing.items.map((row) => ({
    cursor: source.cursors.encode(source.keyOf(row)),
    node: source.nodeOf(row),
  }));
  return {
    edges,
    nodes: edges.map(({ node }) => node),
    pageInfo: {
      hasNextPage: listing.hasNext,
      hasPreviousPage: listing.hasPrevious,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: (args, context) => context.deadline.within(Promise.resolve(source.count(args, context))),
  };
}
