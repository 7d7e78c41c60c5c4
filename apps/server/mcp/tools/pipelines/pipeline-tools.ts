import { Injectable } from '@nestjs/common';
import { CheckService } from '#libs/checks';
import { Configuration, type JsonObject, type JsonValue, type Principal } from '#libs/kernel';
import { PipelineAuthoring, PipelineReading, type PipelineSummary, type PipelineView } from '#libs/pipelines';
import { ListedEntries } from '../listed-entries.js';
import { pageLimit } from '../page-limit.js';
import { serve, type ToolFamily } from '../tool.js';
import { CHECK_TOOLS, PIPELINE_TOOLS } from './pipeline-declarations.js';

/** Reading and writing pipelines, and their checks. */
@Injectable()
export class PipelineTools implements ToolFamily {
  readonly tools = [
    serve(PIPELINE_TOOLS.list, ({ principal }, given) => this.#list(principal, given)),
    serve(PIPELINE_TOOLS.get, ({ principal }, { id, version }) => this.#get(principal, id, version)),
    serve(PIPELINE_TOOLS.create, async ({ principal }, { confirm_new_root, ...document }) =>
      saved(
        await this.authoring.create(principal, documentOf(document), { confirmNewRoot: confirm_new_root === true }),
      ),
    ),
    serve(PIPELINE_TOOLS.update, async ({ principal }, { id, expected_hash, ...document }) =>
      saved(await this.authoring.update(principal, id, documentOf(document), expected_hash)),
    ),
    serve(CHECK_TOOLS.run, async ({ principal, signal }, { id, version, parameters }) => {
      const { version: ran, runs } = await this.checks.run(principal, id, version, parameters, signal);
      const { checks } = await this.checks.latest(principal, id, ran);
      const expected = new Map(checks.map((check) => [check.id, check.expected]));
      return {
        version: ran,
        runs: runs.map(({ check_id, name, observed, verdict, message, ran_at }) => ({
          check_id,
          name,
          expected: expected.get(check_id) ?? null,
          observed,
          verdict,
          message,
          ran_at,
        })),
      };
    }),
  ];
  readonly #limit: (asked: number | undefined) => number;

  constructor(
    private readonly reading: PipelineReading,
    private readonly authoring: PipelineAuthoring,
    private readonly checks: CheckService,
    configuration: Configuration,
  ) {
    this.#limit = pageLimit(configuration);
  }

  async #list(
    principal: Principal,
    given: { owner?: string; datasource?: string; q?: string; prefix?: string; limit?: number },
  ): Promise<unknown> {
    const { prefix, limit, ...filter } = given;
    const page = { first: this.#limit(limit) };
    if (prefix === undefined) {
      const [{ items }, total] = await Promise.all([
        this.reading.list(principal, filter, page),
        this.reading.count(principal, filter),
      ]);
      return new ListedEntries(
        items.map(entry),
        total,
        'search with “q”, walk the folders with “prefix”, or raise “limit”',
      );
    }
    const level = await this.reading.tree(principal, prefix, page);
    return {
      prefix: level.prefix,
      folders: level.folders.map(({ path, segment, pipeline_count }) => ({
        name: segment,
        path,
        count: pipeline_count,
      })),
      items: level.pipelines.map(entry),
      ...(level.has_more ? { total: level.total, truncated: true } : {}),
    };
  }

  async #get(principal: Principal, id: string, version: number | undefined): Promise<PipelineView> {
    const view = await this.reading.read(principal, id, version);
    if (version === undefined) return view;
    const { upgrade_available: _ofTheWorkingVersionOnly, ...shown } = view;
    return shown as PipelineView;
  }
}

function entry({ id, name, display_name, description, version, status, updated_at }: PipelineSummary) {
  return { id, name, display_name, description, version, status, updated_at };
}

function saved({ id, version, status, body_hash, warnings }: PipelineView) {
  return { id, version, status, body_hash, ...(warnings && warnings.length > 0 ? { warnings } : {}) };
}

/** The document that the arguments spell, as the service reads it. */
function documentOf(given: Readonly<Record<string, unknown>>): JsonObject {
  const document = Object.create(null) as JsonObject;
  for (const [key, value] of Object.entries(given)) document[key] = value as JsonValue;
  return document;
}
