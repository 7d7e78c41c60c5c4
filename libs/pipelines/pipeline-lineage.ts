import { Injectable } from '@nestjs/common';
import { authorise } from '#libs/identity';
import {
  isUuid,
  KeysetOrder,
  keysetPages,
  sizeOf,
  type KeysetListing,
  type KeysetPage,
  type Principal,
} from '#libs/kernel';
import { PIPELINE_TABLES, TEMPLATE_TABLES, workingJoin, versionSummary, type VersionSummary } from '#libs/lifecycle';
import { Database } from '#libs/persistence';
import { pipelineVersionKey, type PipelineVersionRef } from './pipeline-batch-reading.js';
import { PipelineRepository, type TemplateUpgrade } from './pipeline.repository.js';

/** A pipeline whose working version pins a template. */
export interface TemplateUser {
  pipelineId: string;
  /** Of the pipeline. */
  name: string;
  working: VersionSummary;
}

interface TemplateUserRow extends PipelineVersionRef {
  template: string;
  name: string;
}

const BY_PIPELINE_NAME = new KeysetOrder({ sql: 'x.name', kind: 'text' });

/** Each pipeline once, however many of its nodes pin the working version of the template (contract 05 §12). */
const USERS = `
  SELECT t.name AS template, e.id AS "pipelineId", e.name COLLATE "C" AS name, w.version
    FROM (SELECT e.name, jsonb_build_object('nodes', jsonb_build_array(jsonb_build_object('template',
                   jsonb_build_object('id', e.name, 'version', w.version)))) AS pin
            FROM ${TEMPLATE_TABLES.entities} e ${workingJoin(TEMPLATE_TABLES)}
           WHERE e.workspace_id = $1 AND e.name = ANY($2::text[]) AND w.version IS NOT NULL) t
   CROSS JOIN LATERAL (SELECT DISTINCT v.pipeline_id FROM pipeline_versions v WHERE v.body_json @> t.pin) u
    JOIN ${PIPELINE_TABLES.entities} e ON e.id = u.pipeline_id AND e.workspace_id = $1 ${workingJoin(PIPELINE_TABLES)}
   WHERE w.body_json @> t.pin`;

/** What hangs on which template, for many at once: a fixed number of statements each, absent and foreign ones left out. */
@Injectable()
export class PipelineLineage {
  constructor(
    private readonly database: Database,
    private readonly repository: PipelineRepository,
  ) {}

  /** Nodes whose template has a higher release than the one they pin, by `pipelineVersionKey`, in their order. */
  async upgrades(
    principal: Principal,
    refs: readonly PipelineVersionRef[],
  ): Promise<Map<string, readonly TemplateUpgrade[]>> {
    const { id } = authorise(principal, 'pipeline.read');
    const known = refs.filter(({ pipelineId }) => isUuid(pipelineId));
    const rows = await this.database.query<TemplateUpgrade & PipelineVersionRef>(
      `SELECT p.id AS "pipelineId", v.version, n.node->>'id' AS node_id, t.name AS template_id,
              n.pinned AS pinned_version, r.latest AS latest_released
         FROM unnest($2::uuid[], $3::int[]) AS asked(id, version)
         JOIN pipelines p ON p.id = asked.id AND p.workspace_id = $1
         JOIN pipeline_versions v ON v.pipeline_id = p.id AND v.version = asked.version
        CROSS JOIN LATERAL (
          SELECT x.node, x.place, (x.node->'template'->>'version')::int AS pinned
            FROM jsonb_array_elements(v.body_json->'nodes') WITH ORDINALITY AS x(node, place)) AS n
         JOIN templates t ON t.workspace_id = p.workspace_id AND t.name = n.node->'template'->>'id'
        CROSS JOIN LATERAL (
          SELECT max(tv.version) AS latest
            FROM template_versions tv WHERE tv.template_id = t.id AND tv.status = 'RELEASED') AS r
        WHERE r.latest > n.pinned
        ORDER BY n.place`,
      [id, known.map(({ pipelineId }) => pipelineId), known.map(({ version }) => version)],
    );
    return new Map(
      [...Map.groupBy(rows, pipelineVersionKey)].map(([key, group]) => [
        key,
        group.map(({ pipelineId: _pipelineId, version: _version, ...upgrade }) => upgrade),
      ]),
    );
  }

  /** A page of each template's users by pipeline name, which `after` and `before` are. */
  async templateUsers(
    principal: Principal,
    templates: readonly string[],
    page: KeysetPage,
  ): Promise<Map<string, KeysetListing<TemplateUser>>> {
    const { id } = authorise(principal, 'template.read');
    const values: unknown[] = [id, templates];
    const beyond = BY_PIPELINE_NAME.beyond(page, values);
    const rows = await this.database.query<TemplateUserRow>(
      `SELECT y.template, y."pipelineId", y.name, y.version FROM (
         SELECT x.*, row_number() OVER (PARTITION BY x.template ${BY_PIPELINE_NAME.orderBy(page)}) AS place
           FROM (${USERS}) x
          WHERE ${beyond}) y
        WHERE y.place <= $${values.push(sizeOf(page) + 1)} ORDER BY y.template, y.place`,
      values,
    );
    const versions = new Map(
      (await this.repository.versionsAmong(id, rows, { withBody: false })).map((row) => [pipelineVersionKey(row), row]),
    );
    const users = ({ pipelineId, name, version }: TemplateUserRow): TemplateUser[] => {
      // A version purged since the page was read is no user any more.
      const found = versions.get(pipelineVersionKey({ pipelineId, version }));
      return found ? [{ pipelineId, name, working: versionSummary(found) }] : [];
    };
    return new Map(
      [...keysetPages(rows, ({ template }) => template, page)].map(([template, { items, ...more }]) => [
        template,
        { items: items.flatMap(users), ...more },
      ]),
    );
  }

  /** How many pipelines use each. */
  async templateUserCounts(principal: Principal, templates: readonly string[]): Promise<Map<string, number>> {
    const { id } = authorise(principal, 'template.read');
    const rows = await this.database.query<{ template: string; count: number }>(
      `SELECT x.template, count(*)::int AS count FROM (${USERS}) x GROUP BY 1`,
      [id, templates],
    );
    return new Map(rows.map(({ template, count }) => [template, count]));
  }
}
