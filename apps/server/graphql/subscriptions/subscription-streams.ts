import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ExecutionEvents } from '#libs/executions';
import { Configuration, Logger, writeJson, type PenstockError, type Principal } from '#libs/kernel';
import { clientGone } from '../../http/client-gone.js';
import { Heartbeats } from '../../sse/heartbeats.js';
import { SseBlock } from '../../sse/sse-block.js';
import { SseWriter } from '../../sse/sse-writer.js';
import { GraphqlEngine } from '../engine/graphql-engine.js';
import { operationOf } from '../engine/guarded-schema.js';
import { asGraphqlError } from '../errors/error-format.js';
import type { AdmittedOperation, OperationRequest } from '../limits/operation-gate.js';
import { StandingRight } from '../../sse/standing-right.js';

const COMPLETE = new SseBlock('event: complete\ndata:\n\n');

/**
 * Subscriptions over server-sent events: the distinct-connections mode of the graphql-sse protocol, `next` per result
 * and `complete` at the end (03 §12). A slow reader holds back its own subscription; nothing piles up behind it.
 */
@Injectable()
export class SubscriptionStreams {
  constructor(
    private readonly engine: GraphqlEngine,
    private readonly events: ExecutionEvents,
    private readonly right: StandingRight,
    private readonly beats: Heartbeats,
    private readonly configuration: Configuration,
    private readonly log: Logger,
  ) {}

  /** Refusals throw before anything is written; afterwards they are results. */
  async stream(
    principal: Principal,
    admitted: AdmittedOperation,
    asked: OperationRequest,
    request: Request,
    response: Response,
  ): Promise<void> {
    const lease = await this.events.stream(principal);
    const gone = clientGone(response);
    try {
      if (gone.signal.aborted) return;
      const writer = this.#open(principal, admitted, request, response);
      void writer.closed.then(() => gone.abort());
      await this.#write(writer, this.engine.subscribe(admitted, asked, principal, gone.signal));
    } catch (error) {
      // The answer is a stream already: the client reconnects.
      this.log.warn('A subscription broke off.', { correlation_id: principal.correlationId, error });
      response.destroy();
    } finally {
      gone.abort();
      await lease.release();
    }
  }

  async #write(writer: SseWriter, results: AsyncIterable<string>): Promise<void> {
    for await (const result of results) {
      await writer.send([next(result)]);
      if (!writer.isOpen) return;
    }
    await writer.send([COMPLETE]);
    writer.end();
  }

  #open(principal: Principal, admitted: AdmittedOperation, request: Request, response: Response): SseWriter {
    const operation = this.#operationOf(admitted);
    const writer = new SseWriter(response, {
      beats: this.beats,
      maxBufferBytes: this.configuration.get('datapipelines.sse.max-buffer-bytes'),
      stillAllowed: async () => {
        const lost = await this.right.lost(request, principal, operation);
        if (lost) await this.#revoke(writer, principal, lost);
        return true;
      },
    });
    writer.open({});
    return writer;
  }

  /** A result and an end: a bare close would make the client reconnect. */
  async #revoke(writer: SseWriter, { correlationId }: Principal, lost: PenstockError): Promise<void> {
    const errors = [this.engine.format(asGraphqlError(lost), correlationId)];
    await writer.send([next(writeJson({ errors })), COMPLETE]);
    writer.end();
  }

  #operationOf({ operation }: AdmittedOperation) {
    const fields = this.engine.schema.getSubscriptionType()?.getFields() ?? {};
    const [selection] = operation.selectionSet.selections;
    const field = selection?.kind === 'Field' ? fields[selection.name.value] : undefined;
    // A fragment at the root is legal and rare: the first field then speaks for it, all of them ask the same right.
    return operationOf(field ?? (Object.values(fields)[0] as NonNullable<typeof field>));
  }
}

function next(result: string): SseBlock {
  return new SseBlock(`event: next\ndata: ${result}\n\n`);
}
