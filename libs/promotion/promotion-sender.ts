import { Injectable } from '@nestjs/common';
import { authorise } from '#libs/identity';
import {
  canonicalId,
  isUuid,
  listedFailures,
  Logger,
  PenstockError,
  type ActingWorkspace,
  type Failure,
  type Principal,
} from '#libs/kernel';
import { PipelineClosure, pipelineNotFound, type CurrentVersion } from '#libs/pipelines';
import {
  endpointStands,
  isCandidate,
  notReleased,
  refusalOfTarget,
  refusalsOf,
  standingOf,
  stands,
  type Standing,
} from './promotion-rules.js';
import { PromotionSettings } from './promotion-settings.js';
import { PromotionTarget, type Batch } from './promotion-target.js';
import type { PromotionReport, PromotionView } from './promotion-view.js';
import { PromotionWishes, type Wishes } from './promotion-wishes.js';

/** Promotes releases of a workspace to the one deployment above this one (contract 05 §13). */
@Injectable()
export class PromotionSender {
  constructor(
    private readonly settings: PromotionSettings,
    private readonly target: PromotionTarget,
    private readonly closure: PipelineClosure,
    private readonly wishes: PromotionWishes,
    private readonly logger: Logger,
  ) {}

  /** What could be promoted now, each row with what keeps it back. Nothing where no target is configured. */
  async candidates(principal: Principal, signal?: AbortSignal): Promise<PromotionView> {
    const workspace = authorise(principal, 'promotion.read');
    const { sourceEnv: source_env, maxEntries } = this.settings;
    const { baseUrl } = this.target;
    if (baseUrl === undefined) {
      return { source_env, workspace: workspace.name, target: null, candidates: [], total: 0 };
    }
    const standing = standingOf(await this.target.inventory(principal, workspace.name, signal));
    const all = (await this.closure.current(workspace.id)).filter((each) =>
      isCandidate(each, standing.pipelines.get(each.name)),
    );
    const { each } = await this.wishes.of(workspace.id, all.slice(0, maxEntries));
    const { deployment, authoring_enabled } = standing.inventory;
    return {
      source_env,
      workspace: workspace.name,
      target: { base_url: baseUrl, deployment, authoring_enabled },
      candidates: each.map((wish) => {
        const { pipelineId, name, displayName, version, bodyHash } = wish.current;
        const there = standing.pipelines.get(name);
        const failures = [...refusalOfTarget(standing), ...refusalsOf(wish, standing, 'pipeline')];
        return {
          pipeline_id: pipelineId,
          name,
          display_name: displayName,
          version,
          body_hash: bodyHash,
          target_version: there?.current_version ?? 0,
          target_body_hash: there?.body_hash ?? null,
          refusals: failures.map(({ code, message, details = {} }) => ({ code, message, details })),
        };
      }),
      total: all.length,
    };
  }

  /**
   * Sends the current release of each pipeline with everything it needs. What the target has is left out, so that
   * promoting again after a lost answer is always right.
   *
   * @throws PenstockError before anything is sent, naming every problem of every pipeline; then the target's own refusal,
   *   or `pipeline.promotion.target_unreachable`
   */
  async promote(principal: Principal, pipelineIds: readonly string[], signal?: AbortSignal): Promise<PromotionReport> {
    const workspace = authorise(principal, 'promotion.promote');
    const ids = this.#idsOf(pipelineIds);
    const { wanted, unreleased } = await this.#wanted(workspace, ids);
    const inventory = await this.target.inventory(principal, workspace.name, signal);
    const standing = standingOf(inventory);
    const wishes = await this.wishes.of(workspace.id, wanted);
    const at = (id: string) => `pipeline_ids[${ids.indexOf(id)}]`;
    const failures = [
      ...refusalOfTarget(standing),
      ...unreleased.map(({ id, name }) => notReleased(name, at(id))),
      ...wishes.each.flatMap((wish) => refusalsOf(wish, standing, at(wish.current.pipelineId))),
    ];
    if (failures.length > 0) throw refusal(failures);
    const batch = batchOf(workspace, wanted, wishes, standing);
    const entries = batch.templates.length + batch.pipelines.length + batch.endpoints.length;
    this.#bound(entries);
    const target = { base_url: this.target.baseUrl ?? '', deployment: inventory.deployment };
    const skipped = wishes.templates.length + wishes.pipelines.length + wishes.endpoints.length - entries;
    const nothing = { templates: [], pipelines: [], endpoints: [] };
    const { templates, pipelines, endpoints } =
      entries === 0 ? nothing : await this.target.push(principal, batch, signal);
    this.logger.info('Promoted.', {
      event: 'promotion.sent',
      correlation_id: principal.correlationId,
      workspace: workspace.name,
      target: inventory.deployment,
      entries,
      skipped,
    });
    return { workspace: workspace.name, target, templates, pipelines, endpoints, skipped };
  }

  #idsOf(given: readonly string[]): string[] {
    if (given.length === 0) throw wrongIds('Name at least one pipeline to promote.', {});
    const bad = given.findIndex((id) => !isUuid(id));
    if (bad >= 0) throw pipelineNotFound((given[bad] as string).slice(0, 64));
    const ids = [...new Set(given.map(canonicalId))];
    this.#bound(ids.length);
    return ids;
  }

  #bound(entries: number): void {
    const { maxEntries } = this.settings;
    if (entries <= maxEntries) return;
    throw wrongIds(
      `This promotion has ${entries} entries, more than the ${maxEntries} of deployment.promotion.max-batch-entries: promote fewer pipelines at a time.`,
      { entries, max_entries: maxEntries },
    );
  }

  /** @throws `pipeline.execution.not_found` for a pipeline that the workspace does not have */
  async #wanted(workspace: ActingWorkspace, ids: readonly string[]) {
    const current = new Map((await this.closure.current(workspace.id)).map((each) => [each.pipelineId, each]));
    const wanted = ids.flatMap((id) => current.get(id) ?? []);
    const names = await this.closure.names(
      workspace.id,
      ids.filter((id) => !current.has(id)),
    );
    const unreleased = ids.flatMap((id) => {
      if (current.has(id)) return [];
      const name = names.get(id);
      if (name === undefined) throw pipelineNotFound(id);
      return [{ id, name }];
    });
    return { wanted, unreleased };
  }
}

/** What the target does not have as it is here. A release that only stands below another does not become current. */
function batchOf(
  { name: workspace }: ActingWorkspace,
  wanted: readonly CurrentVersion[],
  { pipelines, templates, endpoints }: Wishes,
  standing: Standing,
): Batch {
  const roots = new Map(wanted.map(({ pipelineId, version }) => [pipelineId, version]));
  return {
    workspace,
    templates: librariesFirst(templates).filter(
      ({ id, version, body_hash: bodyHash }) => !stands({ name: id, version, bodyHash }, standing.templates.get(id)),
    ),
    pipelines: pipelines
      .filter((release) => !stands(release, standing.pipelines.get(release.name)))
      .map(({ id, version, record }) => ({ ...record, current: roots.get(id) === version })),
    endpoints: endpoints.filter((endpoint) => !endpointStands(endpoint, standing.endpoints.get(endpoint.path))),
  };
}

/** Each library stands after those it imports already. */
function librariesFirst(templates: Wishes['templates']): Wishes['templates'] {
  const [libraries, others] = [true, false].map((kind) => templates.filter((each) => each.is_library === kind));
  return [...(libraries ?? []), ...(others ?? [])];
}

/** Of all problems; the names that several rows lack stand together, so that they are mended in one go. */
function refusal(failures: readonly Failure[]): PenstockError {
  const first = failures[0]!;
  const named = (member: 'datasources' | 'keys') => {
    const all = failures.flatMap(({ details }) => (details?.[member] as string[] | undefined) ?? []);
    return all.length > 0 ? { [member]: [...new Set(all)].sort() } : {};
  };
  return new PenstockError(first.code, {
    message: first.message,
    details: { ...first.details, ...named('datasources'), ...named('keys'), ...listedFailures(failures) },
  });
}

function wrongIds(message: string, more: Record<string, unknown>): PenstockError {
  return new PenstockError('pipeline.execution.invalid_parameter_type', {
    message,
    details: { field: 'pipeline_ids', reason: 'bounds', ...more },
  });
}
