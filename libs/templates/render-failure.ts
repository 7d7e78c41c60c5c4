import type { ErrorCode } from '#libs/kernel';
import type { RenderProblem } from '#libs/ftl';

/** A failed dry render or preview, as validation reports it. */
export interface RenderFailure {
  code: ErrorCode;
  message: string;
  details: Record<string, unknown>;
}

/** Details of any render problem (contract 05 §8). Never a value. */
export function renderDetails(
  problem: RenderProblem,
  template: { name: string; version: number },
): Record<string, unknown> {
  const { reason, guard, line, column, expression, variable, missing, macroStack, library, excerpt } = problem;
  return {
    template_id: template.name,
    template_version: template.version,
    line,
    column,
    ...(excerpt === undefined ? {} : { excerpt }),
    ...(reason === undefined ? {} : { reason }),
    ...(guard === undefined ? {} : { guard }),
    ...(expression === undefined ? {} : { expression }),
    ...(variable === undefined ? {} : { variable }),
    ...(missing === undefined ? {} : { missing }),
    ...(library === undefined ? {} : { library }),
    macro_stack: macroStack,
  };
}

/** The codes a problem has at save and in the preview: an unknown name, or any other failure. */
export function saveFailure(problem: RenderProblem, template: { name: string; version: number }): RenderFailure {
  const details = renderDetails(problem, template);
  const undeclared = problem.kind === 'undefined_variable' || problem.kind === 'missing_parameter';
  const place = `"${template.name}" version ${template.version}, line ${problem.line}, column ${problem.column}`;
  return {
    code: undeclared
      ? 'pipeline.validation.template_parameter_undeclared'
      : 'pipeline.validation.template_render_failed',
    message: `${place}: ${problem.message}${undeclared ? ' Declare it under "parameters", or correct the name.' : ''}`,
    details,
  };
}
