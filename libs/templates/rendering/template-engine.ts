import { LRUCache } from 'lru-cache';
import {
  interpolatedParameters,
  isLibraryBody,
  parseTemplate,
  renderSql,
  renderText,
  type Imports,
  type Library,
  type ParsedTemplate,
  type ParseLimits,
  type PolicyNames,
  type RenderProblem,
} from '#libs/ftl';
import { refKey, type PinnedTemplate, type TemplateClosure } from '../pinned-template.js';
import type { EngineTask, Inspection, InterpolatedParameter, RenderJob, TaskResult } from './render-task.js';

/** A stored version's tree, or why there is none. */
type Tree = { template: ParsedTemplate } | { problem: RenderProblem };

/**
 * Parses and renders inside one thread, and keeps the parsed trees. A draft is overwritten in place, so a tree is known
 * by name, number and hash: the number alone does not identify it (contract 05 §6).
 */
export class TemplateEngine {
  readonly #trees: LRUCache<string, Tree> | undefined;

  constructor(cacheSize: number) {
    this.#trees = cacheSize > 0 ? new LRUCache({ max: cacheSize }) : undefined;
  }

  run(task: EngineTask): TaskResult {
    switch (task.kind) {
      case 'inspect':
        return inspect(task.body, task.limits.parse);
      case 'scan': {
        const linked = this.#link(task.closure, task.limits.parse);
        return 'problem' in linked ? [] : interpolations(linked, task.closure, task.names);
      }
      case 'bind':
      case 'text':
        return this.#render(task.kind, task, task);
    }
  }

  #render(mode: 'bind' | 'text', job: RenderJob, { limits, deadline }: EngineTask): TaskResult {
    const linked = this.#link(job.closure, limits.parse);
    if ('problem' in linked) return { ok: false, problem: linked.problem };
    const input = {
      dialect: job.dialect,
      context: job.context,
      libraries: linked.imports,
      now: job.now,
      limits: { ...limits.render, deadline, clock: Date.now },
    };
    return mode === 'bind' ? renderSql(linked.template, input) : renderText(linked.template, input);
  }

  /** The tree with the trees of its libraries; each version is one object however many paths lead to it. */
  #link(closure: TemplateClosure, limits: ParseLimits): LinkedTemplate | { problem: RenderProblem } {
    const main = this.#tree(closure.template, limits);
    if ('problem' in main) return main;
    const libraries = new Map<string, { library: Library; imports: Map<string, Library>; pinned: PinnedTemplate }>();
    for (const [key, pinned] of closure.libraries) {
      const tree = this.#tree(pinned, limits);
      if ('problem' in tree) return tree;
      const imports = new Map<string, Library>();
      libraries.set(key, { library: { template: tree.template, imports }, imports, pinned });
    }
    const connect = (owner: PinnedTemplate, into: Map<string, Library>): RenderProblem | undefined => {
      for (const ref of owner.imports) {
        const found = libraries.get(refKey(ref));
        if (!found) return gone(`The library "${ref.id}" version ${ref.version} is gone.`);
        into.set(ref.alias, found.library);
      }
      return undefined;
    };
    const imports = new Map<string, Library>();
    let problem = connect(closure.template, imports);
    for (const { pinned, imports: own } of libraries.values()) problem ??= connect(pinned, own);
    return problem ? { problem } : { template: main.template, imports };
  }

  #tree(pinned: PinnedTemplate, limits: ParseLimits): Tree {
    const key = `${refKey({ id: pinned.name, version: pinned.version })}#${pinned.bodyHash}`;
    const cached = this.#trees?.get(key);
    if (cached) return cached;
    const parsed = parseTemplate(pinned.body, { limits });
    const tree: Tree = parsed.ok
      ? { template: parsed.template }
      : { problem: unparsable(pinned, parsed.problems[0]?.message ?? '') };
    this.#trees?.set(key, tree);
    return tree;
  }
}

interface LinkedTemplate {
  template: ParsedTemplate;
  imports: Imports;
}

function interpolations(linked: LinkedTemplate, closure: TemplateClosure, names: PolicyNames): InterpolatedParameter[] {
  return interpolatedParameters(linked.template, names, linked.imports).map((use) => {
    const owner = ownerOf(closure, use.library);
    const { parameter, reason, line, column } = use;
    return { parameter, reason, line, column, templateId: owner.name, templateVersion: owner.version };
  });
}

/** The template behind an alias path such as `lib.inner`; the body itself has none. */
function ownerOf({ template, libraries }: TemplateClosure, path: string | undefined): PinnedTemplate {
  let owner = template;
  for (const alias of path?.split('.') ?? []) {
    const ref = owner.imports.find((candidate) => candidate.alias === alias);
    owner = (ref && libraries.get(refKey(ref))) ?? owner;
  }
  return owner;
}

function inspect(body: string, limits: ParseLimits): Inspection {
  const parsed = parseTemplate(body, { limits });
  return parsed.ok ? { ok: true, isLibrary: isLibraryBody(parsed.template) } : { ok: false, problems: parsed.problems };
}

/** A stored body passed the parser once; limits lowered since can refuse it. */
function unparsable({ name, version }: PinnedTemplate, message: string): RenderProblem {
  return gone(`The template "${name}" version ${version} does not parse here: ${message}`);
}

function gone(message: string): RenderProblem {
  return { kind: 'render_error', message, line: 1, column: 1, macroStack: [] };
}
