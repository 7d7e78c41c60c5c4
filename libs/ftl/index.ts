export { parseTemplate, isLibraryBody, type ParsedTemplate, type ParseOutcome } from './template.js';
export type { FtlProblem, FtlProblemCode, RefusalReason, RenderProblem, RenderProblemKind } from './problems.js';
export {
  DEFAULT_PARSE_LIMITS,
  DEFAULT_RENDER_LIMITS,
  type GuardName,
  type ParseLimits,
  type RenderLimits,
} from './limits.js';
export {
  renderSql,
  renderText,
  type RenderInput,
  type RenderOutcome,
  type RenderStats,
  type TextOutcome,
} from './render.js';
export type { Imports, Library } from './runtime/namespaces.js';
export type { ContextEntry, ContextStructure, ContextValue } from './runtime/context-values.js';
export type { ContextOrigin } from './runtime/taint.js';
export type { Bind } from './sql/named-sql.js';
export { interpolatedParameters, type ParameterUse, type PolicyNames } from './analysis.js';
