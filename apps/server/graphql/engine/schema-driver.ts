import { Injectable } from '@nestjs/common';
import { AbstractGraphQLDriver } from '@nestjs/graphql';

/**
 * Builds the schema out of the resolver classes and nothing more: transport, limits and errors are the door's own
 * (docs/decisions, GraphQL transport).
 */
@Injectable()
export class SchemaDriver extends AbstractGraphQLDriver {
  start(): Promise<void> {
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}
