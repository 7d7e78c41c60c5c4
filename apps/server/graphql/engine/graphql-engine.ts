import { ApolloServer, HeaderMap, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import {
  createSourceEventStream,
  execute,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
} from 'graphql';
import { Configuration, isPenstockError, Logger, writeJson, type Principal } from '#libs/kernel';
import { countOperation } from '../../health/operation-metrics.js';
import { asGraphqlError, catalogued, formatError } from '../errors/error-format.js';
import { protocolCodeOf } from '../errors/protocol-error.js';
import {
  OperationGate,
  type AdmittedOperation,
  type OperationRequest,
  type Verdict,
} from '../limits/operation-gate.js';
import { Deadline } from './deadline.js';
import { OperationContext } from './operation-context.js';

/** Written JSON and the status it goes out with. */
export interface GraphqlAnswer {
  status: number;
  body: string;
}

/** Judges operations, runs them on Apollo Server, and writes what comes of it. */
@Injectable()
export class GraphqlEngine implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #baseUrl: string;
  readonly #timeoutSeconds: number;
  readonly #maxCost: number;
  #gate: OperationGate | undefined;
  #apollo: ApolloServer<OperationContext> | undefined;

  constructor(
    private readonly schemas: GraphQLSchemaHost,
    private readonly configuration: Configuration,
    private readonly log: Logger,
  ) {
    this.#baseUrl = configuration.get('datapipelines.auth.base-url') ?? '';
    this.#timeoutSeconds = configuration.get('datapipelines.graphql.timeout-seconds');
    this.#maxCost = configuration.get('datapipelines.graphql.max-complexity');
  }

  get schema(): GraphQLSchema {
    return this.schemas.schema;
  }

  async onApplicationBootstrap(): Promise<void> {
    this.#gate = new OperationGate(this.schema, limitsOf(this.configuration));
    this.#apollo = new ApolloServer<OperationContext>({
      schema: this.schema,
      // The gate has judged introspection, and everything else that would be refused, before.
      introspection: true,
      csrfPrevention: true,
      persistedQueries: false,
      includeStacktraceInErrorResponses: false,
      stopOnTerminationSignals: false,
      stringifyResult: writeJson,
      plugins: [
        this.#finishing(),
        ApolloServerPluginCacheControlDisabled(),
        ApolloServerPluginInlineTraceDisabled(),
        ApolloServerPluginLandingPageDisabled(),
        ApolloServerPluginSchemaReportingDisabled(),
        ApolloServerPluginUsageReportingDisabled(),
      ],
      formatError: (formatted) => formatted,
    });
    await this.#apollo.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#apollo?.stop();
  }

  judge(request: OperationRequest): Verdict {
    if (!this.#gate) throw new TypeError('the engine has not started');
    return this.#gate.judge(request);
  }

  /** The context of one admitted operation; its time begins now. */
  contextOf(principal: Principal, cost: number, signal?: AbortSignal): OperationContext {
    const deadline = new Deadline(this.#timeoutSeconds);
    return new OperationContext(principal, deadline, { requested: cost, max: this.#maxCost }, signal);
  }

  /** Runs a query or mutation that was admitted. */
  async execute(request: OperationRequest, context: OperationContext): Promise<GraphqlAnswer> {
    if (!this.#apollo) throw new TypeError('the engine has not started');
    const { query, operationName, variables } = request;
    try {
      const answer = await this.#apollo.executeHTTPGraphQLRequest({
        httpGraphQLRequest: {
          method: 'POST',
          headers: new HeaderMap([
            ['content-type', 'application/json'],
            ['accept', 'application/json'],
          ]),
          search: '',
          body: { query, operationName: operationName ?? null, variables: variables ?? null },
        },
        context: () => Promise.resolve(context),
      });
      if (answer.body.kind !== 'complete') throw new TypeError('an answer in pieces was not asked for');
      return { status: answer.status ?? 200, body: answer.body.string };
    } finally {
      context.deadline.met();
    }
  }

  /**
   * Runs a subscription that was admitted: one JSON text per result. Each event is resolved in a context of its own, so
   * that what it reads is as fresh as the event. A refusal, at the start or later, is the last result there is; only a
   * failure of the server's own breaks the stream off, for then the client is to come back.
   */
  async *subscribe(
    { document, operation, cost }: AdmittedOperation,
    request: OperationRequest,
    principal: Principal,
    signal: AbortSignal,
  ): AsyncGenerator<string, void, void> {
    const shared = {
      schema: this.schema,
      document,
      operationName: operation.name?.value,
      variableValues: request.variables,
    };
    const opening = this.contextOf(principal, cost, signal);
    let failed = false;
    const written = (result: ExecutionResult): string => {
      failed ||= result.errors !== undefined;
      return this.#written(result, principal);
    };
    try {
      const source = await createSourceEventStream({ ...shared, contextValue: opening });
      opening.deadline.met();
      if (!(Symbol.asyncIterator in source)) {
        yield written(source);
        return;
      }
      for await (const event of source) {
        const context = this.contextOf(principal, cost, signal);
        try {
          yield written(await execute({ ...shared, rootValue: event, contextValue: context }));
        } finally {
          context.deadline.met();
        }
      }
    } catch (error) {
      failed = true;
      if (!isPenstockError(error) || error.status >= 500) throw error;
      yield written({ errors: [asGraphqlError(error)] });
    } finally {
      countOperation(operation.operation, failed ? 'errors' : 'success');
      opening.deadline.met();
    }
  }

  #written({ errors, ...result }: ExecutionResult, { correlationId }: Principal): string {
    const formatted = errors?.map((error) => this.format(error, correlationId));
    return writeJson({ ...(formatted ? { errors: formatted } : {}), ...result });
  }

  /** The answer to what was refused before it ran: errors and no `data`. */
  refusal(errors: readonly GraphQLError[], correlationId: string): GraphqlAnswer {
    countOperation('unknown', 'refused');
    const formatted = errors.map((error) => this.format(error, correlationId));
    const status = formatted[0]?.extensions?.['http_status'];
    return { status: typeof status === 'number' ? status : 500, body: writeJson({ errors: formatted }) };
  }

  /** One error as clients see it; unknown failures are logged with all they have. */
  format(error: GraphQLError, correlationId: string): GraphQLFormattedError {
    if (!protocolCodeOf(error)) this.#record(error, correlationId);
    return formatError(error, { correlationId, baseUrl: this.#baseUrl });
  }

  #record(error: GraphQLError, correlationId: string): void {
    const known = catalogued(error);
    const fields = { correlation_id: correlationId, code: known.code, path: error.path?.join('.') };
    if (known.status >= 500) this.log.error(known.message, { ...fields, error: known.cause ?? known });
    else this.log.debug(known.message, fields);
  }

  /** Errors get their final form here, where the request is known; its correlation id and the cost go along. */
  #finishing(): ApolloServerPlugin<OperationContext> {
    return {
      requestDidStart: () =>
        Promise.resolve({
          willSendResponse: ({ errors, operation, response, contextValue }) => {
            countOperation(operation?.operation ?? 'unknown', errors ? 'errors' : 'success');
            if (response.body.kind !== 'single') return Promise.resolve();
            const { singleResult } = response.body;
            const { correlationId } = contextValue.principal;
            if (errors) singleResult.errors = errors.map((error) => this.format(error, correlationId));
            singleResult.extensions = {
              ...singleResult.extensions,
              correlation_id: correlationId,
              cost: contextValue.cost,
            };
            return Promise.resolve();
          },
        }),
    };
  }
}

function limitsOf(configuration: Configuration) {
  return {
    documentBytes: configuration.get('datapipelines.graphql.max-document-bytes'),
    tokens: configuration.get('datapipelines.graphql.max-tokens'),
    depth: configuration.get('datapipelines.graphql.max-depth'),
    aliases: configuration.get('datapipelines.graphql.max-aliases'),
    rootFields: configuration.get('datapipelines.graphql.max-root-fields'),
    cost: configuration.get('datapipelines.graphql.max-complexity'),
    pageMax: configuration.get('datapipelines.graphql.page-max'),
    introspection: configuration.get('datapipelines.graphql.introspection') !== 'off',
  };
}
