import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { writeJson } from '#libs/kernel';
import { GraphqlEngine } from '../graphql/engine/graphql-engine.js';
import { BuildInfo } from '../health/build-info.js';
import { routesOfController, type ControllerClass } from '../http/routes-of.js';
import { openapiDocument } from './openapi-document.js';

/** What this process serves, as documents for programs. Written once, when first asked for. */
@Injectable()
export class ApiReference {
  #openapi: string | undefined;
  #schema: string | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly graphql: GraphqlEngine,
    private readonly build: BuildInfo,
  ) {}

  get openapi(): string {
    this.#openapi ??= writeJson(openapiDocument(this.#routes(), this.build.version));
    return this.#openapi;
  }

  /** The GraphQL schema in its own language. */
  get schema(): string {
    this.#schema ??= `${printSchema(lexicographicSortSchema(this.graphql.schema))}\n`;
    return this.#schema;
  }

  #routes() {
    const controllers = this.discovery.getControllers().map(({ metatype }) => metatype as ControllerClass);
    return controllers.flatMap(routesOfController);
  }
}
