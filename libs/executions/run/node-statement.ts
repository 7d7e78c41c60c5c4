import { PenstockError } from '#libs/kernel';
import type { SqlNode } from '#libs/pipelines';
import type { RenderInput } from '#libs/ftl';
import { refKey, type TemplateClosure, type TemplateRenderer } from '#libs/templates';
import { classifyStatement, type Dialect, type TypedValue } from '#libs/typesystem';
import { renderFailure } from './render-failure.js';

/** What a node sends once it is rendered: the text with `:name` markers, and the values behind them. */
export interface NodeStatement {
  sql: string;
  binds: ReadonlyMap<string, TypedValue>;
}

/** Renders a node's template, in a run and when it is tried by itself. @throws as contract 05 §5 */
export async function renderNode(
  renderer: TemplateRenderer,
  { template }: SqlNode,
  templates: ReadonlyMap<string, TemplateClosure>,
  input: RenderInput,
  signal: AbortSignal,
): Promise<NodeStatement> {
  const closure = templates.get(refKey(template));
  if (!closure) {
    throw new PenstockError('pipeline.node.template_not_found', {
      message: `The template "${template.id}" version ${template.version} no longer exists.`,
      details: { template: template.id, version: template.version },
    });
  }
  const outcome = await renderer.render(closure, input, signal);
  if (!outcome.ok) throw renderFailure(outcome.problem, template);
  return {
    sql: outcome.namedSql,
    binds: new Map(outcome.binds.map(({ name, type, value }) => [name, { type, value }])),
  };
}

/** The check of the save, on the text that will really run (contract 01 §2). */
export function refuseOtherClass(dialect: Dialect, sql: string, node: SqlNode): void {
  const verdict = classifyStatement(dialect, sql);
  if (verdict.ok && verdict.class === node.type) return;
  throw new PenstockError('pipeline.node.query_execution_failed', {
    message: `The rendered text is not one statement of the type ${node.type}.`,
    details: { reason: 'statement_type', statement: verdict.ok ? 'class' : verdict.reason },
  });
}
