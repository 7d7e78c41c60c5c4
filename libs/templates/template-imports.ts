import type { Failure } from '#libs/kernel';
import { refKey, type PinnedTemplate, type TemplateImport } from './pinned-template.js';
import { MAX_CLOSURE, MAX_IMPORT_DEPTH } from './template-catalog.js';

/**
 * Judges the imports of a template about to be stored as `self` (contract 05 §7), over every version they reach.
 * Pure: `loaded` holds what was found, by `refKey`; absent or DISCARDED means not found.
 */
export function judgeImports(
  self: string,
  imports: readonly TemplateImport[],
  loaded: ReadonlyMap<string, PinnedTemplate>,
): Failure[] {
  const failures: Failure[] = [];
  const walk = new ClosureWalk(self, loaded);
  for (const [index, ref] of imports.entries()) {
    const path = `imports[${index}]`;
    const named = { import: { id: ref.id, version: ref.version } };
    const key = refKey(ref);
    const library = loaded.get(key);
    if (key === self) {
      failures.push(cycle(path, [self, self]));
    } else if (!library || library.status === 'DISCARDED') {
      failures.push({
        code: 'template.validation.import_not_found',
        path,
        message: `There is no usable version ${ref.version} of "${ref.id}" in this workspace.`,
        details: named,
      });
    } else if (!library.isLibrary) {
      failures.push({
        code: 'template.validation.import_not_library',
        path,
        message: `"${ref.id}" version ${ref.version} is no library: only macros and functions can be imported.`,
        details: named,
      });
    } else {
      const circle = walk.circleFrom(key);
      if (circle) failures.push(cycle(path, circle));
      else if (walk.depthOf(key) > MAX_IMPORT_DEPTH) {
        failures.push({
          code: 'template.validation.import_depth_exceeded',
          path,
          message: `The chain of libraries below this template is longer than ${MAX_IMPORT_DEPTH}.`,
          details: { ...named, max: MAX_IMPORT_DEPTH, reason: 'chain_too_long' },
        });
      }
    }
  }
  if (failures.length === 0 && walk.reached > MAX_CLOSURE) {
    failures.push({
      code: 'template.validation.import_depth_exceeded',
      path: 'imports',
      message: `The template reaches ${walk.reached} libraries; at most ${MAX_CLOSURE} are allowed.`,
      details: { max: MAX_CLOSURE, reason: 'closure_too_large' },
    });
  }
  return failures;
}

function cycle(path: string, circle: readonly string[]): Failure {
  return {
    code: 'template.validation.import_cycle',
    path,
    message: `The imports lead back to where they began: ${circle.slice(0, 12).join(' → ')}.`,
    details: { cycle_path: circle },
  };
}

/** Depth of every library reached, each worked out once; a version met again on its own path closes a circle. */
class ClosureWalk {
  readonly #depths = new Map<string, number>();
  #circle: string[] | undefined;

  constructor(
    private readonly self: string,
    private readonly loaded: ReadonlyMap<string, PinnedTemplate>,
  ) {}

  get reached(): number {
    return this.#depths.size;
  }

  circleFrom(key: string): readonly string[] | undefined {
    this.#circle = undefined;
    this.#visit(key, [this.self]);
    return this.#circle;
  }

  depthOf(key: string): number {
    return this.#depths.get(key) ?? 0;
  }

  /** Recursion is bounded: the catalogue loads `MAX_IMPORT_DEPTH` + 2 levels, and a circle ends the walk. */
  #visit(key: string, path: readonly string[]): number {
    if (path.includes(key)) {
      this.#circle ??= [...path.slice(path.indexOf(key)), key];
      return 0;
    }
    const known = this.#depths.get(key);
    if (known !== undefined) return known;
    const below = [...path, key];
    let deepest = 0;
    for (const ref of this.loaded.get(key)?.imports ?? []) deepest = Math.max(deepest, this.#visit(refKey(ref), below));
    if (this.#circle === undefined) this.#depths.set(key, deepest + 1);
    return deepest + 1;
  }
}
