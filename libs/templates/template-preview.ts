import { Injectable } from '@nestjs/common';
import { Clock, PenstockError, RawJson, type Principal } from '#libs/kernel';
import { authorise } from '#libs/identity';
import { bindStatement, encodeWire, type TypedValue } from '#libs/typesystem';
import { TemplateCatalog } from './template-catalog.js';
import { previewContext } from './preview-context.js';
import { saveFailure } from './render-failure.js';
import { refKey, type TemplateClosure } from './pinned-template.js';
import { TemplateRenderer } from './rendering/template-renderer.js';
import type { RenderProblem } from '#libs/ftl';
import { templateNotFound } from './template-reading.js';
import { TemplateRepository } from './template.repository.js';
import { wholeNumber } from './template-fields.js';

export interface PreviewRequest {
  name: string;
  version?: unknown;
  /** A JSON object, as `readJson` gives it. */
  context?: unknown;
  mode?: string | undefined;
}

/** What would be bound, and where a pipeline save would refuse the spelling. */
export interface BoundPreview {
  /** As the driver gets it. */
  sql: string;
  /** With `:name` where a value goes. */
  named_sql: string;
  binds: { name: string; type: string; value: RawJson; origin: string }[];
  warnings: { code: 'template.validation.parameter_interpolated'; details: Record<string, unknown> }[];
}

/** `text`: the SQL alone. `bound`: with its binds. */
export type PreviewResult = string | BoundPreview;

/** Shows what a template renders to. Nothing runs (contract 05 §9). */
@Injectable()
export class TemplatePreview {
  constructor(
    private readonly repository: TemplateRepository,
    private readonly catalog: TemplateCatalog,
    private readonly renderer: TemplateRenderer,
    private readonly clock: Clock,
  ) {}

  async render(principal: Principal, request: PreviewRequest): Promise<PreviewResult> {
    const workspace = authorise(principal, 'template.render');
    const mode = request.mode ?? 'text';
    if (mode !== 'text' && mode !== 'bound') refuseField('mode', 'Set "mode" to text or bound.', ['text', 'bound']);
    const context = previewContext(request.context);
    const closure = await this.#closure(workspace.id, request.name, request.version);
    const { template } = closure;
    const now = this.clock.now().toISOString().replace('Z', '000Z');
    const values = { dialect: template.dialect, context, now };
    if (mode === 'text') {
      const outcome = await this.renderer.renderText(closure, values);
      if (!outcome.ok) throw previewError(outcome.problem, template);
      return outcome.text;
    }
    const outcome = await this.renderer.render(closure, values);
    if (!outcome.ok) throw previewError(outcome.problem, template);
    const binds = new Map(outcome.binds.map(({ name, type, value }): [string, TypedValue] => [name, { type, value }]));
    return {
      sql: bindStatement(template.dialect, outcome.namedSql, binds).sql,
      named_sql: outcome.namedSql,
      binds: outcome.binds.map(({ name, type, value, origin }) => ({
        name,
        type: type.type,
        value: new RawJson(encodeWire(type, value)),
        origin,
      })),
      warnings: await this.#warnings(closure, [...context.keys()]),
    };
  }

  async #closure(workspaceId: string, name: string, version: unknown): Promise<TemplateClosure> {
    const number = version === undefined || version === null ? undefined : wholeNumber(version);
    if (version !== undefined && version !== null && number === undefined) {
      refuseField('version', 'Set "version" to a whole number, or leave it out for the working version.');
    }
    const row = await this.repository.version(workspaceId, name, number);
    if (!row || (number === undefined && row.status === 'DISCARDED')) throw templateNotFound(name, number);
    const ref = { id: name, version: row.version };
    const closure = (await this.catalog.load(workspaceId, [ref])).get(refKey(ref));
    if (!closure) throw templateNotFound(name, row.version);
    return closure;
  }

  async #warnings(closure: TemplateClosure, keys: readonly string[]): Promise<BoundPreview['warnings']> {
    const found = await this.renderer.scan(closure, { parameters: new Set(keys) });
    return (found ?? []).map(({ parameter, templateId, templateVersion, line, column, reason }) => ({
      code: 'template.validation.parameter_interpolated',
      details: {
        parameter,
        suggestion: `:${parameter}`,
        template_id: templateId,
        template_version: templateVersion,
        line,
        column,
        reason,
      },
    }));
  }
}

function previewError(problem: RenderProblem, template: { name: string; version: number }): PenstockError {
  const { code, message, details } = saveFailure(problem, template);
  return new PenstockError(code, { message, details });
}

function refuseField(field: string, message: string, allowed?: string[]): never {
  throw new PenstockError('pipeline.execution.invalid_parameter_type', {
    message,
    details: { field, reason: 'field', ...(allowed ? { allowed } : {}) },
  });
}
