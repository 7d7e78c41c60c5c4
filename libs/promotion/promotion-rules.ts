import type { EndpointFile } from '#libs/endpoints';
import type { Failure } from '#libs/kernel';
import type { ClosedRelease, CurrentVersion } from '#libs/pipelines';
import type { CurrentEntry, Inventory } from './inventory.js';

/** A target's inventory, ready to be asked. */
export interface Standing {
  inventory: Inventory;
  pipelines: ReadonlyMap<string, CurrentEntry>;
  templates: ReadonlyMap<string, CurrentEntry>;
  endpoints: ReadonlyMap<string, EndpointFile>;
  datasources: ReadonlySet<string>;
  keys: ReadonlySet<string>;
}

export function standingOf(inventory: Inventory): Standing {
  return {
    inventory,
    pipelines: new Map(inventory.pipelines.map((entry) => [entry.name, entry])),
    templates: new Map(inventory.templates.map((entry) => [entry.name, entry])),
    endpoints: new Map(inventory.endpoints.map((entry) => [entry.path, entry])),
    datasources: new Set(inventory.datasources),
    keys: new Set(inventory.endpoint_keys),
  };
}

type Numbered = Pick<CurrentVersion, 'name' | 'version' | 'bodyHash'>;

/** Whether the target has this very version current: nothing is left to send of it. */
export function stands(here: Numbered, there: CurrentEntry | undefined): boolean {
  return there?.current_version === here.version && there.body_hash === here.bodyHash;
}

/** What may be promoted: a release of another content and a higher number than the target's (absent: 0). */
export function isCandidate(here: CurrentVersion, there: CurrentEntry | undefined): boolean {
  return (
    here.status === 'RELEASED' && here.bodyHash !== there?.body_hash && here.version > (there?.current_version ?? 0)
  );
}

/** A pipeline that somebody wants to promote, with all it needs. */
export interface Wish {
  current: CurrentVersion;
  /** Itself and every release below it. */
  releases: readonly ClosedRelease[];
  endpoints: readonly EndpointFile[];
}

/** Where authoring is on, nothing is received, whatever it is. */
export function refusalOfTarget({ inventory }: Standing): Failure[] {
  if (!inventory.authoring_enabled) return [];
  return [
    {
      code: 'pipeline.promotion.target_is_authoring',
      path: 'target',
      message: `Authoring is enabled on "${inventory.deployment}": promote to a deployment where nobody writes.`,
      details: { deployment: inventory.deployment },
    },
  ];
}

/** Everything that keeps one pipeline from being promoted, as far as it is known before anything is sent. */
export function refusalsOf(wish: Wish, standing: Standing, path: string): Failure[] {
  const { current } = wish;
  const there = standing.pipelines.get(current.name);
  if (current.status !== 'RELEASED') return [notReleased(current.name, path)];
  const unreleased = wish.releases.filter(({ status }) => status !== 'RELEASED');
  if (unreleased.length > 0) return unreleased.map(({ name }) => notReleased(name, path));
  if (!stands(current, there) && !isCandidate(current, there)) return [notNewer(current, there, path)];
  const missing = missingOf(wish, standing);
  return [
    ...(missing.datasources.length > 0 ? [lacksDatasources(current.name, missing.datasources, path)] : []),
    ...(missing.keys.length > 0 ? [lacksKeys(current.name, missing.keys, path)] : []),
  ];
}

export function notReleased(name: string, path: string): Failure {
  return {
    code: 'pipeline.promotion.not_released',
    path,
    message: `"${name}" has no release that is current: release it first.`,
    details: { pipeline: name },
  };
}

function notNewer({ name, version, bodyHash }: CurrentVersion, there: CurrentEntry | undefined, path: string): Failure {
  const numbers = { pipeline_version: version, target_version: there?.current_version ?? 0 };
  return {
    code: 'pipeline.promotion.not_newer',
    path,
    message: `Version ${version} of "${name}" is not newer than version ${numbers.target_version}, which the target has.`,
    details: { pipeline: name, ...numbers, body_hash: bodyHash, target_body_hash: there?.body_hash ?? null },
  };
}

function missingOf({ releases, endpoints }: Wish, standing: Standing): { datasources: string[]; keys: string[] } {
  const used = new Set(releases.flatMap(({ datasources }) => datasources));
  const named = new Set(endpoints.flatMap(({ bindings }) => bindings.map(({ key_name: name }) => name)));
  return {
    datasources: [...used].filter((name) => !standing.datasources.has(name)).sort(),
    keys: [...named].filter((name) => !standing.keys.has(name)).sort(),
  };
}

function lacksDatasources(name: string, datasources: readonly string[], path: string): Failure {
  return {
    code: 'pipeline.promotion.missing_datasources',
    path,
    message: `"${name}" needs ${datasources.slice(0, 10).join(', ')}, which the target does not have: register ${datasources.length === 1 ? 'it' : 'them'} there.`,
    details: { pipeline: name, datasources },
  };
}

function lacksKeys(name: string, keys: readonly string[], path: string): Failure {
  return {
    code: 'endpoint.promotion.key_missing',
    path,
    message: `The endpoints of "${name}" are bound to ${keys.slice(0, 10).join(', ')}: create endpoint keys of these names on the target.`,
    details: { pipeline: name, keys },
  };
}

/** Whether the target publishes the path as it is published here, and lets its keys in: at the same node, or at the path. */
export function endpointStands(here: EndpointFile, there: EndpointFile | undefined): boolean {
  if (!there) return false;
  const bound = new Set(there.bindings.map(({ path_prefix: node, key_name: name }) => `${node} ${name}`));
  return (
    here.pipeline === there.pipeline &&
    here.timeout_seconds === there.timeout_seconds &&
    here.description === there.description &&
    here.enabled === there.enabled &&
    here.bindings.every(({ path_prefix: node, key_name: name }) =>
      [node, here.path].some((at) => bound.has(`${at} ${name}`)),
    )
  );
}
