import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Configuration, isPenstockError } from '#libs/kernel';
import type { PolicyNames, RenderOutcome } from '#libs/ftl';
import { saveFailure, TemplateRenderer, refKey } from '#libs/templates';
import { bindStatement, type Dialect, type TypedValue } from '#libs/typesystem';
import type { Notes } from '../document/notes.js';
import { TEMPDB } from '../document/pipeline-document.js';
import type { ReadNode } from '../document/read-nodes.js';
import { unorderedAdvice } from './context-keys.js';
import type { DryContexts, DryScope } from './dry-scope.js';
import type { RenderableNode } from './registry-rules.js';
import { EngineStatementParser, type EngineVerdict } from './statement-parser.js';
import { isParsedByEngine, statementDefect, statementFacts, type StatementFacts } from './statement-rules.js';

/** Renders under way at once; the pool's queue belongs to running pipelines too. */
const CONCURRENCY = 8;

type Success = Extract<RenderOutcome, { ok: true }>;
type Failed = Extract<RenderOutcome, { ok: false }>;

/** The renders of one template for one dialect with one set of values; nodes that share all share them. */
interface Rendering {
  contexts: DryContexts;
  nodes: RenderableNode[];
  outcomes: RenderOutcome[];
  /** What came out, each text once. */
  statements: Map<string, StatementFacts>;
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

  /**
   * `budget` is shared by all renders of one save; when it ends, what was not rendered fails, reason `budget`. Answers
   * with the tables that each query on tempdb names.
   */
  async judge(
    nodes: readonly RenderableNode[],
    parameters: ReadonlySet<string>,
    scope: DryScope,
    now: string,
    budget: AbortSignal,
    notes: Notes,
  ): Promise<Map<ReadNode, readonly string[]>> {
    const renderings = group(nodes, scope);
    if (this.configuration.get('datapipelines.templates.interpolated-parameters') === 'refuse') {
      const names = { parameters, calculators: new Set(scope.writers.keys()) };
      await concurrently(byTemplate(renderings), (rendering) => this.#scan(rendering, names, budget, notes));
    }
    await concurrently(renderings, (rendering) => this.#render(rendering, now, budget));
    for (const rendering of renderings) reportRenders(rendering, scope, notes);
    const tables = await this.#judgeStatements(renderings, budget, notes);
    for (const rendering of renderings) reportBudget(rendering, notes);
    return tables;
  }

  async #scan(rendering: Rendering, names: PolicyNames, budget: AbortSignal, notes: Notes): Promise<void> {
    const { closure } = rendering.nodes[0]!;
    const found = await withinBudget(rendering, budget, () => this.renderer.scan(closure, names, budget));
    // A scan that was stopped has not cleared the template.
    if (found === null) rendering.exhausted = true;
    for (const use of found ?? []) {
      const advice =
        use.reason === 'direct'
          ? `write :${use.parameter} instead of \${${use.parameter}}, so that the value is bound.`
          : `"${use.parameter}" is computed while the pipeline runs and may not decide what the statement is.`;
      for (const { node } of rendering.nodes) {
        notes.fail(
          'template.validation.parameter_interpolated',
          `${node.path}.template`,
          `"${use.templateId}" version ${use.templateVersion}, line ${use.line}, column ${use.column}: ${advice}`,
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

  async #render(rendering: Rendering, now: string, budget: AbortSignal): Promise<void> {
    const { closure, dialect } = rendering.nodes[0]!;
    for (const context of rendering.contexts) {
      const outcome = await withinBudget(rendering, budget, () =>
        this.renderer.render(closure, { dialect, context, now }, budget),
      );
      if (!outcome) return;
      rendering.outcomes.push(outcome);
    }
  }

  /** What came out, text by text: a save may print megabytes, and others are served between two of them. */
  async #judgeStatements(
    renderings: readonly Rendering[],
    budget: AbortSignal,
    notes: Notes,
  ): Promise<Map<ReadNode, readonly string[]>> {
    const factsOf = rememberingFacts();
    for (const rendering of renderings) {
      const { dialect } = rendering.nodes[0]!;
      for (const outcome of rendering.outcomes.filter(isSuccess)) {
        await withinBudget(rendering, budget, async () => {
          await setImmediate();
          const sql = driverSql(dialect, outcome);
          if (sql !== undefined) rendering.statements.set(sql, factsOf(dialect, sql));
        });
      }
    }
    const verdicts = await this.#parsed(renderings);
    const tables = new Map<ReadNode, readonly string[]>();
    for (const { nodes, statements } of renderings) {
      for (const [sql, facts] of statements) {
        const verdict = isParsedByEngine(nodes[0]!.dialect) ? verdicts.get(sql) : undefined;
        for (const { node, type } of nodes) {
          if (type === 'DQL' && node.source === TEMPDB && verdict?.tables) {
            tables.set(node, [...new Set([...(tables.get(node) ?? []), ...verdict.tables])]);
          }
          const defect = statementDefect(type, facts, verdict);
          if (!defect) continue;
          notes.failOnce('pipeline.validation.statement_type_mismatch', `${node.path}.template`, defect.message, {
            reason: defect.reason,
            node_type: type,
          });
        }
      }
    }
    return tables;
  }

  async #parsed(renderings: readonly Rendering[]): Promise<Map<string, EngineVerdict>> {
    const byEngine = renderings.filter(({ nodes }) => isParsedByEngine(nodes[0]!.dialect));
    const texts = [...new Set(byEngine.flatMap(({ statements }) => [...statements.keys()]))];
    const verdicts = await this.parser.parse(texts);
    return new Map(texts.map((sql, index) => [sql, verdicts[index]!]));
  }
}

/** Equal texts of one dialect are looked at once, however many nodes run them. */
function rememberingFacts(): (dialect: Dialect, sql: string) => StatementFacts {
  const known = new Map<string, StatementFacts>();
  return (dialect, sql) => {
    const key = `${dialect}\n${sql}`;
    const facts = known.get(key) ?? statementFacts(dialect, sql);
    known.set(key, facts);
    return facts;
  };
}

function group(nodes: readonly RenderableNode[], scope: DryScope): Rendering[] {
  const groups = new Map<DryContexts, Map<string, Rendering>>();
  for (const node of nodes) {
    const contexts = scope.of(node.position);
    const alike = groups.get(contexts) ?? new Map<string, Rendering>();
    groups.set(contexts, alike);
    const key = templateKey(node);
    const known = alike.get(key);
    if (known) known.nodes.push(node);
    else alike.set(key, { nodes: [node], contexts, outcomes: [], statements: new Map(), exhausted: false });
  }
  return [...groups.values()].flatMap((alike) => [...alike.values()]);
}

/** What a scan needs: it reads the template only, whatever the values. */
function byTemplate(renderings: readonly Rendering[]): Rendering[] {
  const merged = new Map<string, Rendering>();
  for (const rendering of renderings) {
    const key = templateKey(rendering.nodes[0]!);
    const known = merged.get(key);
    merged.set(key, known ? { ...known, nodes: [...known.nodes, ...rendering.nodes] } : rendering);
  }
  return [...merged.values()];
}

function templateKey({ closure, dialect }: RenderableNode): string {
  const { name, version } = closure.template;
  return `${refKey({ id: name, version })} ${dialect}`;
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

function reportRenders({ nodes, outcomes }: Rendering, { writers }: DryScope, notes: Notes): void {
  for (const { node, closure } of nodes) {
    const path = `${node.path}.template`;
    for (const { problem } of outcomes.filter(isFailed)) {
      const { code, message, details } = saveFailure(problem, closure.template);
      for (const variable of problem.missing ?? [problem.variable]) {
        const writer = variable === undefined ? undefined : writers.get(variable);
        if (writer) {
          notes.failOnce('pipeline.validation.calculator_input_unordered', path, unorderedAdvice(writer), {
            ...details,
            variable,
            key: writer.key,
            writer: writer.path,
          });
          continue;
        }
        notes.failOnce(code, path, message, variable === undefined ? details : { ...details, variable });
      }
    }
  }
}

function reportBudget({ nodes, exhausted }: Rendering, notes: Notes): void {
  if (!exhausted) return;
  for (const { node, closure } of nodes) {
    notes.failOnce(
      'pipeline.validation.template_render_failed',
      `${node.path}.template`,
      'The dry renders of this save took too long together: simplify the templates, or split the pipeline.',
      { template_id: closure.template.name, template_version: closure.template.version, reason: 'budget' },
    );
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
