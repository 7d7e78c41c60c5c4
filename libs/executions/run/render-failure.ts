import type { RenderProblem } from '#libs/ftl';
import { PenstockError } from '#libs/kernel';
import type { TemplateRef } from '#libs/templates';

/** A template that does not render at run time (contract 05 §5, 01 §4.4). */
export function renderFailure(problem: RenderProblem, { id, version }: TemplateRef): PenstockError {
  const { kind, message, reason, guard, line, column, expression, variable, missing, macroStack, library, excerpt } =
    problem;
  const place = {
    template_id: id,
    template_version: version,
    line,
    column,
    ...(excerpt === undefined ? {} : { excerpt }),
    ...(library === undefined ? {} : { library }),
  };
  if (kind === 'missing_parameter') {
    return new PenstockError('pipeline.node.sql_parameter_missing', {
      message,
      details: { ...place, parameter: variable, missing: missing ?? [] },
    });
  }
  return new PenstockError('pipeline.node.template_render_failed', {
    message,
    details: {
      ...place,
      reason: reason ?? kind,
      ...(guard === undefined ? {} : { guard }),
      ...(expression === undefined ? {} : { expression }),
      ...(variable === undefined ? {} : { variable }),
      macro_stack: macroStack,
    },
  });
}
