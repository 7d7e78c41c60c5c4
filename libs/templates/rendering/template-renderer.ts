import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Configuration } from '#libs/kernel';
import type { ContextEntry, GuardName, PolicyNames, RenderOutcome, RenderProblem, TextOutcome } from '#libs/ftl';
import type { Dialect } from '#libs/typesystem';
import type { TemplateClosure } from '../pinned-template.js';
import type { EngineLimits, EngineTask, Inspection, InterpolatedParameter, TaskResults } from './render-task.js';
import { BUILT_WORKER, RenderWorkers, type WorkerScript } from './render-workers.js';
import { TemplateEngine } from './template-engine.js';

/** Values of a render: the dialect decides quoting and lexing, `now` is `.now`. */
export interface RenderValues<Entry extends ContextEntry = ContextEntry> {
  dialect: Dialect;
  context: ReadonlyMap<string, Entry>;
  /** `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
  now: string;
}

/**
 * Renders and parses templates, in worker threads unless configured inline (contract 05 §6). Outcomes are tagged; only
 * an aborted `signal` rejects, with its reason.
 */
@Injectable()
export class TemplateRenderer implements OnModuleDestroy {
  readonly #timeoutMs: number;
  readonly #limits: EngineLimits;
  readonly #cacheSize: number;
  readonly #inline: TemplateEngine | undefined;
  /** For bodies without anything to evaluate: the way to a thread and back would cost more than they do. */
  readonly #plain: TemplateEngine;
  #workers: RenderWorkers | undefined;
  #script: WorkerScript = BUILT_WORKER;

  constructor(configuration: Configuration) {
    const key = <K extends string>(name: K): `datapipelines.templates.${K}` => `datapipelines.templates.${name}`;
    this.#timeoutMs = configuration.get(key('render-timeout-ms'));
    this.#cacheSize = configuration.get(key('cache-size'));
    this.#limits = {
      parse: {
        maxBodyChars: configuration.get(key('max-body-chars')),
        maxNesting: configuration.get(key('max-nesting')),
      },
      render: {
        maxOutputChars: configuration.get(key('max-output-chars')),
        maxSteps: configuration.get(key('max-steps')),
        maxIterations: configuration.get(key('max-iterations')),
        maxCallDepth: configuration.get(key('max-call-depth')),
        maxStringChars: configuration.get(key('max-string-chars')),
        maxCollectionItems: configuration.get(key('max-collection-items')),
        maxListBinds: configuration.get(key('max-list-binds')),
      },
    };
    const inline = configuration.get(key('render-isolation')) === 'inline';
    this.#plain = new TemplateEngine(this.#cacheSize);
    this.#inline = inline ? new TemplateEngine(this.#cacheSize) : undefined;
  }

  /** A renderer whose workers run another script than the built one, as tests on sources need. */
  static withWorker(configuration: Configuration, script: WorkerScript): TemplateRenderer {
    const renderer = new TemplateRenderer(configuration);
    renderer.#script = script;
    return renderer;
  }

  /** SQL with every run-time value bound: what runs and what is checked. */
  async render(closure: TemplateClosure, values: RenderValues, signal?: AbortSignal): Promise<RenderOutcome> {
    if (isPlain(closure)) {
      signal?.throwIfAborted();
      return this.#plain.run({ kind: 'bind', closure, ...values, ...this.#bounds() }) as RenderOutcome;
    }
    return this.#run<'bind'>({ kind: 'bind', closure, ...values, ...this.#bounds() }, failed, signal);
  }

  /** SQL with the values printed in it: for eyes only, never sent. */
  async renderText(closure: TemplateClosure, values: RenderValues, signal?: AbortSignal): Promise<TextOutcome> {
    return this.#run<'text'>({ kind: 'text', closure, ...values, ...this.#bounds() }, failed, signal);
  }

  /** Whether a body parses, and whether it has the shape of a library. */
  async inspect(body: string, signal?: AbortSignal): Promise<Inspection> {
    const stopped = (problem: RenderProblem): Inspection => ({
      ok: false,
      problems: [{ code: 'syntax_error', message: problem.message, line: 1, column: 1, details: {} }],
    });
    return this.#run<'inspect'>({ kind: 'inspect', body, ...this.#bounds() }, stopped, signal);
  }

  /**
   * Keys used as `${key}` where the policy refuses that, in the template and its import closure (contract 05 §5.2). Null
   * where the scan was stopped: nobody knows then, so the caller must not take it for "none".
   */
  async scan(
    closure: TemplateClosure,
    names: PolicyNames,
    signal?: AbortSignal,
  ): Promise<readonly InterpolatedParameter[] | null> {
    const task: EngineTask = { kind: 'scan', closure, names, ...this.#bounds() };
    return this.#run<'scan', null>(task, () => null, signal);
  }

  async onModuleDestroy(): Promise<void> {
    await this.#workers?.close();
    this.#workers = undefined;
  }

  #bounds(): { limits: EngineLimits; deadline: number } {
    return { limits: this.#limits, deadline: Date.now() + this.#timeoutMs };
  }

  async #run<K extends keyof TaskResults, Stopped = TaskResults[K]>(
    task: EngineTask,
    stopped: (problem: RenderProblem) => Stopped,
    signal?: AbortSignal,
  ): Promise<TaskResults[K] | Stopped> {
    signal?.throwIfAborted();
    if (this.#inline) return this.#inline.run(task) as TaskResults[K];
    this.#workers ??= new RenderWorkers(this.#cacheSize, this.#script);
    const outcome = await this.#workers.run(task, signal);
    if ('done' in outcome) return outcome.done as TaskResults[K];
    return stopped(stopProblem(outcome.stopped, this.#timeoutMs));
  }
}

/** Whatever begins an interpolation or a tag, in either syntax, or a header that would change it. */
const TEMPLATE_SYNTAX = /[$#]\{|<\/?[#@]|\[\/?[#@=]/;
/** Longer texts take their time in a thread. */
const PLAIN_CHARS = 8192;

/** SQL as it stands, with placeholders at most: no loop, no expression, no library that could run away. */
function isPlain({ template, libraries }: TemplateClosure): boolean {
  const { body, imports } = template;
  return libraries.size === 0 && imports.length === 0 && body.length <= PLAIN_CHARS && !TEMPLATE_SYNTAX.test(body);
}

function failed(problem: RenderProblem): { ok: false; problem: RenderProblem } {
  return { ok: false, problem };
}

function stopProblem(stopped: 'deadline' | 'capacity' | 'memory', timeoutMs: number): RenderProblem {
  const place = { line: 1, column: 1, macroStack: [] };
  if (stopped === 'memory') {
    return { kind: 'render_error', message: 'The render needs more memory than one may use.', ...place };
  }
  const guard: GuardName = stopped === 'deadline' ? 'render-timeout-ms' : 'capacity';
  const message =
    stopped === 'deadline'
      ? `The render took longer than ${timeoutMs} ms, waiting included.`
      : 'Too many renders are waiting: try again in a moment.';
  return { kind: 'guard', guard, message, ...place };
}
