import { Injectable } from '@nestjs/common';
import {
  Configuration,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Principal,
  PenstockError,
  readJson,
  toWireStamp,
} from '#libs/kernel';
import { authorise } from '#libs/identity';
import { PipelineCatalog, pipelineNotFound, type RunnableVersion } from '#libs/pipelines';
import { CheckRunRepository, type CheckRunRow, type CheckVia } from './check-run.repository.js';
import { CheckRunner } from './check-runner.js';

/** One run as callers see it. */
export interface CheckRunView extends Omit<CheckRunRow, 'parameters' | 'observed' | 'duration_ms'> {
  name: string;
  parameters: JsonValue;
  observed: JsonValue;
  duration_ms: number | null;
}

/** A check of a version with its newest run; `observed` of the run is the stored object. */
export interface CheckView {
  id: string;
  name: string;
  datasource: string;
  sql: string;
  expected: JsonObject;
  parameters: JsonObject;
  latest_run: CheckRunView | null;
}

/** Runs checks on demand and tells what was last seen (contract 01 §9). */
@Injectable()
export class CheckService {
  readonly #budgetMs: number;

  constructor(
    private readonly catalog: PipelineCatalog,
    private readonly runner: CheckRunner,
    private readonly runs: CheckRunRepository,
    configuration: Configuration,
  ) {
    this.#budgetMs = configuration.get('datapipelines.checks.gate-timeout-seconds') * 1000;
  }

  /** Runs every check of a version, by default the working one. Each run is committed before the answer. */
  async run(
    principal: Principal,
    pipelineId: string,
    version: number | undefined,
    parameters: JsonValue | undefined,
    signal: AbortSignal,
  ): Promise<{ version: number; runs: CheckRunView[] }> {
    const workspace = authorise(principal, 'pipeline.run_checks');
    const supplied = suppliedValues(parameters);
    const found = await this.#version(workspace.id, pipelineId, version);
    const origin = {
      pipelineId: found.pipelineId,
      version: found.version,
      ranBy: principal.userId,
      via: VIA[principal.surface],
      correlationId: principal.correlationId,
    };
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(this.#budgetMs)]);
    const plan = { workspaceId: workspace.id, document: found.document, supplied, signal: bounded };
    const runs: CheckRunView[] = [];
    for await (const outcome of this.runner.run(plan)) {
      const row = await this.runs.add(origin, outcome);
      if (!row) throw pipelineNotFound(pipelineId, found.version);
      runs.push({ ...runView(row, outcome.check.name), observed: observedText(outcome.observed) });
    }
    return { version: found.version, runs };
  }

  /** The checks of a version, each with its newest run. */
  async latest(
    principal: Principal,
    pipelineId: string,
    version: number,
  ): Promise<{ version: number; checks: CheckView[] }> {
    const workspace = authorise(principal, 'pipeline.read');
    const found = await this.#version(workspace.id, pipelineId, version);
    const latest = await this.runs.latest(found.pipelineId, found.version);
    return {
      version: found.version,
      checks: found.document.checks.map(({ id, name, datasource, sql, expectedJson, parameters }) => {
        const run = latest.get(id);
        return {
          id,
          name,
          datasource,
          sql,
          expected: expectedJson,
          parameters,
          latest_run: run ? runView(run, name) : null,
        };
      }),
    };
  }

  async #version(workspaceId: string, pipelineId: string, version: number | undefined): Promise<RunnableVersion> {
    const found = await this.catalog.forRun(workspaceId, pipelineId, version);
    if (!found) throw pipelineNotFound(pipelineId, version);
    return found;
  }
}

const VIA: Readonly<Record<Principal['surface'], CheckVia>> = { session: 'ui', api_key: 'rest', mcp: 'mcp' };

/** What was seen, as text: `"74.62"`, `"6"`, or null (contract 05 §11). */
export function observedText(observed: { value: string } | { rows: number } | null): string | null {
  if (observed === null) return null;
  return 'value' in observed ? observed.value : String(observed.rows);
}

function suppliedValues(parameters: JsonValue | undefined): JsonObject {
  if (parameters === undefined || parameters === null) return {};
  if (isJsonObject(parameters)) return parameters;
  throw new PenstockError('pipeline.execution.invalid_parameter_type', {
    message: 'Send the parameters as one JSON object of names and values.',
    details: { field: 'parameters', reason: 'field' },
  });
}

export function runView({ parameters, observed, duration_ms, ...row }: CheckRunRow, name: string): CheckRunView {
  return {
    ...row,
    ran_at: toWireStamp(row.ran_at),
    name,
    parameters: readJson(parameters),
    observed: observed === null ? null : readJson(observed),
    duration_ms: duration_ms === null ? null : Number(duration_ms),
  };
}
