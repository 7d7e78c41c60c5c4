import { LRUCache } from 'lru-cache';
import { templatePins, type RunnableVersion } from '#libs/pipelines';
import type { TemplateCatalog, TemplateClosure } from '#libs/templates';

/** Characters of bodies that are kept. */
const MAX_KEPT_CHARS = 16 * 1024 * 1024;

type Closures = ReadonlyMap<string, TemplateClosure>;

/**
 * The templates a version pins, with what they import. A released version pins released templates: their bodies and
 * imports never change, and nobody may discard or purge what is pinned (contract 05 §10), so they are read once.
 */
export class LaunchTemplates {
  readonly #kept = new LRUCache<string, Closures>({ maxSize: MAX_KEPT_CHARS });

  constructor(private readonly catalog: TemplateCatalog) {}

  async of({ pipelineId, workspaceId, version, status, bodyHash, document }: RunnableVersion): Promise<Closures> {
    const key = `${pipelineId} ${version} ${bodyHash}`;
    const kept = status === 'RELEASED' ? this.#kept.get(key) : undefined;
    if (kept) return kept;
    const pins = templatePins(document);
    const closures = await this.catalog.load(workspaceId, pins);
    if (status === 'RELEASED' && closures.size === pins.length && isSettled(closures)) {
      this.#kept.set(key, closures, { size: sizeOf(closures) });
    }
    return closures;
  }
}

function isSettled(closures: Closures): boolean {
  return versionsOf(closures).every(({ status }) => status === 'RELEASED');
}

function sizeOf(closures: Closures): number {
  return versionsOf(closures).reduce((sum, { body }) => sum + body.length, 1);
}

function versionsOf(closures: Closures) {
  return [...closures.values()].flatMap(({ template, libraries }) => [template, ...libraries.values()]);
}
