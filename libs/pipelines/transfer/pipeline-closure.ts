import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/kernel';
import type { VersionStatus } from '#libs/lifecycle';
import { TemplateTransfer, type TemplateFile } from '#libs/templates';
import { pipelineKey } from '../composition/pinned-pipelines.js';
import { datasourceUses } from '../document/datasource-uses.js';
import { pipelinePins, templatePins, type PipelineDocument, type PipelineRef } from '../document/pipeline-document.js';
import { readStoredDocument } from '../document/stored-document.js';
import { PipelineRepository, type CurrentVersion } from '../pipeline.repository.js';
import { belowFirst } from './below-first.js';
import { pipelineRecord } from './pipeline-file.js';

/** A release with what it needs to be one elsewhere. */
export interface ClosedRelease extends PipelineRef {
  id: string;
  status: VersionStatus;
  bodyHash: string;
  /** As an export writes it. */
  record: JsonObject;
  /** Names of the datasources it uses itself. */
  datasources: readonly string[];
  /** Versions it pins. */
  children: readonly PipelineRef[];
  /** Template versions it pins, by name. */
  templates: readonly { id: string; version: number }[];
}

/** What a number of releases need, children before parents and libraries before templates. */
export interface ReleaseClosure {
  pipelines: readonly ClosedRelease[];
  templates: readonly TemplateFile[];
}

/** What of a workspace can be sent elsewhere. Authorises nothing: its callers did. */
@Injectable()
export class PipelineClosure {
  constructor(
    private readonly repository: PipelineRepository,
    private readonly templates: TemplateTransfer,
  ) {}

  /** What each pipeline's pointer names, by name. */
  current(workspaceId: string): Promise<CurrentVersion[]> {
    return this.repository.currentVersions(workspaceId);
  }

  /** Names of those of the pipelines that the workspace has, by id. */
  async names(workspaceId: string, ids: readonly string[]): Promise<Map<string, string>> {
    const found = await Promise.all(ids.map((id) => this.repository.find(workspaceId, id)));
    return new Map(found.flatMap((entity) => (entity ? [[entity.id, entity.name]] : [])));
  }

  /** The releases and every version they reach by pins: one statement for each level of the tree. */
  async of(workspaceId: string, roots: readonly PipelineRef[]): Promise<ReleaseClosure> {
    const found = new Map<string, ClosedRelease>();
    const asked = new Set<string>();
    let level = unasked(roots, asked);
    while (level.length > 0) {
      const rows = await this.repository.versionsNamed(workspaceId, level);
      const next: PipelineRef[] = [];
      for (const row of rows) {
        const document = readStoredDocument(row.body);
        const release = closed(pipelineRecord(row), row, document);
        found.set(pipelineKey(release), release);
        next.push(...release.children);
      }
      level = unasked(next, asked);
    }
    const pins = [...found.values()].flatMap(({ templates }) => templates);
    const children = ({ children: refs }: ClosedRelease) => refs.flatMap((ref) => found.get(pipelineKey(ref)) ?? []);
    return {
      pipelines: belowFirst(found.values(), children),
      templates: await this.templates.files(workspaceId, pins),
    };
  }
}

function closed(
  record: JsonObject,
  row: { pipelineId: string; name: string; version: number; status: VersionStatus; bodyHash: string },
  document: PipelineDocument | undefined,
): ClosedRelease {
  const { pipelineId: id, name, version, status, bodyHash } = row;
  return {
    id,
    name,
    version,
    status,
    bodyHash,
    record,
    datasources: document ? [...new Set(datasourceUses(document).map((use) => use.name))] : [],
    children: document ? pipelinePins(document) : [],
    templates: document ? templatePins(document) : [],
  };
}

function unasked(refs: readonly PipelineRef[], asked: Set<string>): PipelineRef[] {
  const fresh = refs.filter((ref) => !asked.has(pipelineKey(ref)));
  for (const ref of fresh) asked.add(pipelineKey(ref));
  return [...new Map(fresh.map((ref) => [pipelineKey(ref), ref])).values()];
}
