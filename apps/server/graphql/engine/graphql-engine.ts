import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import {
  createSourceEventStream,
  execute,
  OperationTypeNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
} from 'graphql';
import { Configuration, isPenstockError, Logger, whileWanted, writeJson, type Principal } from '#libs/kernel';
import { countOperation } from '../../health/operation-metrics.js';
import { isCustomerSystemDown } from '../../http/customer-systems.js';
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

/** Judges operations, runs them, and writes what comes of it. */
@Injectable()
export class GraphqlEngine implements OnApplicationBootstrap {
  readonly #baseUrl: string;
  readonly #timeoutSeconds: number;
  readonly #maxCost: number;
  #gate: OperationGate | undefined;

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

  onApplicationBootstrap(): void {
    this.#gate = new OperationGate(this.schema, limitsOf(this.configuration));
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

  /** Runs a query or mutation that was admitted: errors of its fields stand beside the data, so the status is 200. */
  async execute(
    { document, operation }: AdmittedOperation,
    { variables }: OperationRequest,
    context: OperationContext,
  ): Promise<GraphqlAnswer> {
    const run = () =>
      execute({
        schema: this.schema,
        document,
        operationName: operation.name?.value,
        variableValues: variables,
        contextValue: context,
      });
    try {
      // A query's statements are worth nothing after its time; a mutation may have started what goes on.
      const isQuery = operation.operation === OperationTypeNode.QUERY;
      const result = await (isQuery ? whileWanted(context.deadline.signal, run) : run());
      countOperation(operation.operation, result.errors ? 'errors' : 'success');
      const { principal, cost } = context;
      const extensions = { ...result.extensions, correlation_id: principal.correlationId, cost };
      return { status: 200, body: this.#written({ ...result, extensions }, principal) };
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
    if (isCustomerSystemDown(known.code)) this.log.warn(known.message, fields);
    else if (known.status >= 500) this.log.error(known.message, { ...fields, error: known.cause ?? known });
    else this.log.debug(known.message, fields);
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
