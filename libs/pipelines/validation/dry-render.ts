import { Injectable } from '@nestjs/common';
import { Configuration, isPenstockError } from '#libs/kernel';
import type { ContextValue, RenderOutcome } from '#libs/ftl';
import { saveFailure, TemplateRenderer, refKey } from '#libs/templates';
import { bindStatement, type TypedValue } from '#libs/typesystem';
import type { Notes } from '../document/notes.js';
import type { RenderableNode } from './registry-rules.js';
import { EngineStatementParser } from './statement-parser.js';
import { isParsedByEngine, statementDefect } from './statement-rules.js';

/** Renders under way at once; the pool's queue belongs to running pipelines too. */
const CONCURRENCY = 8;

type Success = Extract<RenderOutcome, { ok: true }>;
type Failed = Extract<RenderOutcome, { ok: false }>;

/** The renders of one template for one dialect; nodes that share both share them. */
interface Rendering {
  nodes: RenderableNode[];
  outcomes: RenderOutcome[];
  /** The budget ended first. */
  exhausted: boolean;
}

/** Renders every node's template with stand-in values and judges what comes out (contract 05 §8, 01 §2, §4.2). */
@Injectable()
export class DryRender {
  constructor(
    private readonly configuration: Configuration,
    private readonly renderer: TemplateRenderer,
    private readonly parser: EngineStatementParser,
  ) {}

  /** `budget` is shared by all renders of one save; when it ends, what was not rendered fails, reason `budget`. */
  async judge(
    nodes: readonly RenderableNode[],
    parameters: ReadonlySet<string>,
    contexts: readonly ReadonlyMap<string, ContextValue>[],
    now: string,
    budget: AbortSignal,
    notes: Notes,
  ): Promise<void> {
    const renderings = group(nodes);
    if (this.configuration.get('datapipelines.templates.interpolated-parameters') === 'refuse') {
      await concurrently(renderings, (rendering) => this.#scan(rendering, parameters, budget, notes));
    }
    await concurrently(renderings, (rendering) => this.#render(rendering, contexts, now, budget));
    for (const rendering of renderings) reportRenders(rendering, notes);
    await this.#judgeStatements(renderings, notes);
  }

  async #scan(rendering: Rendering, parameters: ReadonlySet<string>, budget: AbortSignal, notes: Notes): Promise<void> {
    const { closure } = rendering.nodes[0]!;
    const found = await withinBudget(rendering, budget, () => this.renderer.scan(closure, parameters, budget));
    for (const use of found ?? []) {
      for (const { node } of rendering.nodes) {
        notes.fail(
          'template.validation.parameter_interpolated',
          `${node.path}.template`,
          `"${use.templateId}" version ${use.templateVersion}, line ${use.line}, column ${use.column}: write :${use.parameter} instead of \${${use.parameter}}, so that the value is bound.`,
          {
            parameter: use.parameter,
            suggestion: `:${use.parameter}`,
            template_id: use.templateId,
            template_version: use.templateVersion,
            line: use.line,
            column: use.column,
            reason: use.reason,
          },
        );
      }
    }
  }

  async #render(
    rendering: Rendering,
    contexts: readonly ReadonlyMap<string, ContextValue>[],
    now: string,
    budget: AbortSignal,
  ): Promise<void> {
    const { closure, dialect } = rendering.nodes[0]!;
    for (const context of contexts) {
      const outcome = await withinBudget(rendering, budget, () =>
        this.renderer.render(closure, { dialect, context, now }, budget),
      );
      if (!outcome) return;
      rendering.outcomes.push(outcome);
    }
  }

  async #judgeStatements(renderings: readonly Rendering[], notes: Notes): Promise<void> {
    const statements = renderings.flatMap((rendering) => {
      const { dialect } = rendering.nodes[0]!;
      const texts = new Set(rendering.outcomes.filter(isSuccess).map((outcome) => driverSql(dialect, outcome)));
      return [...texts].filter((sql) => sql !== undefined).map((sql) => ({ rendering, dialect, sql }));
    });
    const parsed = statements.filter(({ dialect }) => isParsedByEngine(dialect));
    const verdicts = await this.parser.parse(parsed.map(({ sql }) => sql));
    const verdictOf = new Map(parsed.map((statement, index) => [statement, verdicts[index]]));
    for (const statement of statements) {
      for (const { node } of statement.rendering.nodes) {
        const defect = statementDefect(node.type!, statement.dialect, statement.sql, verdictOf.get(statement));
        if (!defect) continue;
        notes.failOnce('pipeline.validation.statement_type_mismatch', `${node.path}.template`, defect.message, {
          reason: defect.reason,
          node_type: node.type,
        });
      }
    }
  }
}

function group(nodes: readonly RenderableNode[]): Rendering[] {
  const groups = new Map<string, Rendering>();
  for (const node of nodes) {
    const { name, version } = node.closure.template;
    const key = `${refKey({ id: name, version })} ${node.dialect}`;
    const known = groups.get(key);
    if (known) known.nodes.push(node);
    else groups.set(key, { nodes: [node], outcomes: [], exhausted: false });
  }
  return [...groups.values()];
}

/** Undefined when the budget ended first; the rendering remembers. */
async function withinBudget<T>(
  rendering: Rendering,
  budget: AbortSignal,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    budget.throwIfAborted();
    return await work();
  } catch (error) {
    if (!budget.aborted) throw error;
    rendering.exhausted = true;
    return undefined;
  }
}

/** Runs the work for every item, a few at a time. */
async function concurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const lane = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
}

function reportRenders({ nodes, outcomes, exhausted }: Rendering, notes: Notes): void {
  for (const { node, closure } of nodes) {
    const path = `${node.path}.template`;
    for (const { problem } of outcomes.filter(isFailed)) {
      const { code, message, details } = saveFailure(problem, closure.template);
      for (const variable of problem.missing ?? [problem.variable]) {
        notes.failOnce(code, path, message, variable === undefined ? details : { ...details, variable });
      }
    }
    if (exhausted) {
      notes.failOnce(
        'pipeline.validation.template_render_failed',
        path,
        'The dry renders of this save took too long together: simplify the templates, or split the pipeline.',
        { template_id: closure.template.name, template_version: closure.template.version, reason: 'budget' },
      );
    }
  }
}

const isSuccess = (outcome: RenderOutcome): outcome is Success => outcome.ok;
const isFailed = (outcome: RenderOutcome): outcome is Failed => !outcome.ok;

/** The text as the driver would get it; a bind that no driver takes is a run's refusal, not a save's. */
function driverSql(dialect: RenderableNode['dialect'], { namedSql, binds }: Success): string | undefined {
  const values = new Map(binds.map(({ name, type, value }): [string, TypedValue] => [name, { type, value }]));
  try {
    return bindStatement(dialect, namedSql, values).sql;
  } catch (error) {
    if (isPenstockError(error)) return undefined;
    throw error;
  }
}
