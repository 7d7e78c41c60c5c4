import { Inject, Injectable } from '@nestjs/common';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { Admission } from '#libs/identity';
import { Configuration, Logger, type JsonValue, type PenstockError } from '#libs/kernel';
import { countError } from '../../health/error-metrics.js';
import { toPenstockError } from '../../http/failure.js';
import { internal, invalidParams, RpcError, shownName } from '../protocol/rpc-error.js';
import { readArguments } from './read-arguments.js';
import type { Tool, ToolCall, ToolFamily } from './tool.js';
import { ToolAudit, type CallOutcome, type CallRecord } from './tool-audit.js';
import { nearestTool } from './tool-catalogue.js';
import { refusalBody, RefusedResult, refusedResult, successResult } from './tool-result.js';

/** Provider of the families' tools. */
export const TOOL_FAMILIES = Symbol('penstock.mcp.families');

/** One call of a tool: rights, arguments, work, audit, answer, in this order (06 §12, 03 §1). */
@Injectable()
export class ToolDispatcher {
  readonly #tools = new Map<string, Tool>();
  readonly #baseUrl: string;

  constructor(
    @Inject(TOOL_FAMILIES) families: readonly ToolFamily[],
    private readonly admission: Admission,
    private readonly audit: ToolAudit,
    private readonly log: Logger,
    configuration: Configuration,
  ) {
    for (const tool of families.flatMap(({ tools }) => tools)) this.#tools.set(tool.declaration.name, tool);
    this.#baseUrl = configuration.get('datapipelines.auth.base-url') ?? '';
  }

  /** Names of all tools that have their work here. */
  get names(): string[] {
    return [...this.#tools.keys()];
  }

  /** @throws RpcError −32602 for an unknown tool and for arguments to be changed, −32603 for a failure of ours */
  async call(name: string, sent: JsonValue | undefined, call: ToolCall): Promise<CallToolResult> {
    const tool = this.#tools.get(name);
    const record: CallRecord = {
      tool: name,
      declaration: tool?.declaration,
      given: undefined,
      outcome: 'success',
      acted: false,
      startedAt: performance.now(),
    };
    try {
      return await this.#answer(tool, name, sent, call, record);
    } finally {
      await this.audit.called(call.principal, record);
    }
  }

  async #answer(
    tool: Tool | undefined,
    name: string,
    sent: JsonValue | undefined,
    call: ToolCall,
    record: CallRecord,
  ): Promise<CallToolResult> {
    const { correlationId } = call.principal;
    try {
      if (!tool) throw unknownTool(name);
      const { declaration } = tool;
      await this.admission.admit(call.principal, declaration.operation, { path: '/mcp', method: 'POST' });
      record.given = readArguments(declaration, sent);
      const value = await this.admission.carryOut(call.principal, declaration.operation, () =>
        this.#worked(tool, call, record),
      );
      if (!(value instanceof RefusedResult)) return successResult(declaration, value, correlationId);
      mark(record, 'refused', value.code);
      return refusedResult(value.body, correlationId);
    } catch (failure) {
      if (failure instanceof RpcError) {
        mark(record, 'invalid');
        throw failure;
      }
      return this.#refused(toPenstockError(failure), name, call, record);
    }
  }

  /** What a tool refuses (4xx) changed nothing; a run that failed, or work that broke, may have changed something before. */
  async #worked({ run }: Tool, call: ToolCall, record: CallRecord): Promise<unknown> {
    try {
      const value = await run(call, record.given ?? {});
      record.acted = true;
      return value;
    } catch (failure) {
      record.acted = !(failure instanceof RpcError) && toPenstockError(failure).status >= 500;
      throw failure;
    }
  }

  #refused(error: PenstockError, tool: string, { principal, signal }: ToolCall, record: CallRecord): CallToolResult {
    const { correlationId } = principal;
    countError(error);
    if (error.code === 'internal') {
      mark(record, 'failed', error.code);
      // What a client breaks off by leaving is nobody's fault.
      if (!signal.aborted)
        this.log.error('A tool failed.', { tool, correlation_id: correlationId, error: error.cause ?? error });
      throw internal(error);
    }
    mark(record, 'refused', error.code);
    return refusedResult(refusalBody(error, this.#baseUrl, correlationId), correlationId);
  }
}

function mark(record: CallRecord, outcome: CallOutcome, code?: string): void {
  record.outcome = outcome;
  if (code !== undefined) record.code = code;
}

/** What agents look for after their work, and no tool does. */
const FOR_PEOPLE = /release|promot|grant|revoke|verify|discard|restore|member|user|key|secret|password|deploy|approve/i;
const NOT_FOR_TOOLS =
  'Releasing, promoting, verifying facts, granting, members and keys are for people, in the console: tell the user what is ready.';

function unknownTool(name: string): RpcError {
  const shown = shownName(name);
  if (FOR_PEOPLE.test(name)) return invalidParams(`There is no tool “${shown}”. ${NOT_FOR_TOOLS}`, { tool: shown });
  const meant = nearestTool(name);
  const hint = meant === undefined ? 'tools/list names them all.' : `Did you mean “${meant}”?`;
  return invalidParams(`There is no tool “${shown}”. ${hint}`, { tool: shown });
}
