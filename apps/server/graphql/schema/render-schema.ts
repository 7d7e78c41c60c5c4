import { NestFactory } from '@nestjs/core';
import { GraphQLSchemaBuilderModule, GraphQLSchemaFactory } from '@nestjs/graphql';
import { lexicographicSortSchema, printSchema, type GraphQLSchema } from 'graphql';
import { describeRoots, openRoots } from '../engine/guarded-schema.js';
import { RESOLVERS } from './resolvers.js';
import { schemaOptions } from './schema-options.js';

/** The schema as clients see it, out of the classes alone: no store is opened and nothing resolves. */
export async function bareSchema(): Promise<GraphQLSchema> {
  const app = await NestFactory.createApplicationContext(GraphQLSchemaBuilderModule, { logger: false });
  try {
    const schema = await app.get(GraphQLSchemaFactory).create(RESOLVERS, { ...schemaOptions.buildSchemaOptions });
    openRoots(schema);
    describeRoots(schema);
    return schema;
  } finally {
    await app.close();
  }
}

/** `docs/generated/schema.graphql`. */
export async function renderSchema(): Promise<string> {
  return `${printSchema(lexicographicSortSchema(await bareSchema()))}\n`;
}
