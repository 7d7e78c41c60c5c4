import { Injectable } from '@nestjs/common';
import { PenstockError } from '#libs/kernel';
import type { Transaction } from '#libs/persistence';
import type { PipelineRef } from '../document/pipeline-document.js';
import { PinnedPipelines, pipelineKey, type PipelinePin } from './pinned-pipelines.js';

/** References shown in one refusal. */
const MAX_SHOWN = 200;

/** Keeps live pipelines from pinning what is discarded or gone (contract 05 §10). */
@Injectable()
export class PipelinePinGuard {
  constructor(private readonly pinned: PinnedPipelines) {}

  /**
   * Asked by a discard of one version, which live parents refuse, and by a purge of the whole pipeline, which any stored
   * parent refuses. The caller has locked the version: whoever saves a pin holds it, so none can appear in between.
   * @throws PenstockError 409 `pipeline.version.pinned` with the referencing nodes
   */
  async refuseWhilePinned(tx: Transaction, workspaceId: string, name: string, version?: number): Promise<void> {
    const pins = await this.pinned.pinsOf(tx, workspaceId, name, version, { discardedToo: version === undefined });
    if (pins.length > 0) throw pinnedBy(name, version, pins);
  }

  /**
   * Asked by a restore: what comes back to life must not call what is not. Holds the children.
   * @throws PenstockError 409 `pipeline.version.pinned`, reason `pins_discarded`
   */
  async refuseDiscardedPins(tx: Transaction, workspaceId: string, children: readonly PipelineRef[]): Promise<void> {
    const held = await this.pinned.hold(tx, workspaceId, children);
    const distinct = [...new Map(children.map((ref) => [pipelineKey(ref), ref])).values()];
    const dead = distinct.filter((ref) => held.get(pipelineKey(ref)) !== 'RELEASED');
    if (dead.length === 0) return;
    throw new PenstockError('pipeline.version.pinned', {
      message: `Restore the children first: ${dead.slice(0, 10).map(pipelineKey).join(', ')}.`,
      details: {
        reason: 'pins_discarded',
        pins: dead.map((ref) => ({
          pipeline: ref.name,
          pipeline_version: ref.version,
          status: held.get(pipelineKey(ref)) ?? null,
        })),
      },
    });
  }
}

function pinnedBy(name: string, version: number | undefined, pins: readonly PipelinePin[]): PenstockError {
  const pipelines = [...new Set(pins.map(({ pipeline }) => pipeline))];
  const what = version === undefined ? `"${name}"` : `"${name}" version ${version}`;
  return new PenstockError('pipeline.version.pinned', {
    message: `${what} is called by ${pipelines.slice(0, 10).join(', ')}: pin another version there first.`,
    details: { referencing_pipelines: pipelines, references: pins.slice(0, MAX_SHOWN) },
  });
}
