import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { authorise } from '#libs/identity';
import type { Principal } from '#libs/kernel';
import type { VersionSummary } from '#libs/lifecycle';
import { PipelineReading } from '#libs/pipelines';
import { TemplateReading } from '#libs/templates';
import { ContentBus, type ContentNotice } from '#libs/transient';
import { changesBetween, standing, workingOf, type VersionChange } from './version-changes.js';

/** A lost notice costs this long. */
const LOOK_MS = 15_000;
/** Notices that come together are answered by one look. */
const LEAST_MS = 250;

/**
 * A pipeline or template as it is written, whoever writes it and on whichever instance: woken by `dp:bus:content`, and
 * looked at now and then for what a lost notice would have told. Every look is a read with the watcher's own rights.
 */
@Injectable()
export class ContentChanges {
  constructor(
    private readonly bus: ContentBus,
    private readonly pipelines: PipelineReading,
    private readonly templates: TemplateReading,
  ) {}

  /** First what stands there, then each change. Ends when the reader leaves. @throws 404 when it is not there, or no more */
  ofPipeline(principal: Principal, id: string, signal: AbortSignal): AsyncGenerator<VersionChange, void, void> {
    const { id: workspaceId } = authorise(principal, 'pipeline.read');
    return this.#watch({ kind: 'pipeline', workspaceId, id }, () => this.pipelines.versions(principal, id), signal);
  }

  /** As `ofPipeline`, by name. */
  ofTemplate(principal: Principal, name: string, signal: AbortSignal): AsyncGenerator<VersionChange, void, void> {
    const { id: workspaceId } = authorise(principal, 'template.read');
    const notice: ContentNotice = { kind: 'template', workspaceId, id: name };
    return this.#watch(notice, () => this.templates.versions(principal, name), signal);
  }

  async *#watch(
    notice: ContentNotice,
    look: () => Promise<readonly VersionSummary[]>,
    signal: AbortSignal,
  ): AsyncGenerator<VersionChange, void, void> {
    let bell = new AbortController();
    const unsubscribe = await this.bus.subscribe(notice, () => bell.abort());
    try {
      let known = await look();
      const working = workingOf(known);
      if (working) yield standing(working);
      while (await quiet(LOOK_MS, AbortSignal.any([signal, bell.signal]), signal)) {
        if (!(await quiet(LEAST_MS, signal, signal))) return;
        bell = new AbortController();
        const now = await look();
        yield* changesBetween(known, now);
        known = now;
      }
    } finally {
      unsubscribe();
    }
  }
}

/** Waits, or until one of the signals calls; false when the reader is gone. */
async function quiet(ms: number, until: AbortSignal, gone: AbortSignal): Promise<boolean> {
  try {
    await pause(ms, undefined, { signal: until, ref: false });
  } catch (error) {
    if (!until.aborted) throw error;
  }
  return !gone.aborted;
}
