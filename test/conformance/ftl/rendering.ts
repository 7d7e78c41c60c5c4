import type { ColumnType, Dialect } from '#libs/typesystem';
import {
  parseTemplate,
  renderSql,
  renderText,
  type ContextEntry,
  type ContextValue,
  type FtlProblem,
  type ParsedTemplate,
  type RenderInput,
  type RenderOutcome,
} from '#libs/ftl';

const NOW = '2026-08-05T14:30:00.000000Z';

/** A typed Context value as a run would hold it. */
export function value(type: ColumnType['type'] | ColumnType, content: ContextValue['value']): ContextValue {
  return { type: typeof type === 'string' ? { type } : type, value: content, origin: 'parameter' };
}

export const text = (content: string): ContextValue => value('STRING', content);
export const int = (content: number): ContextValue => value('INTEGER', content);
export const bool = (content: boolean): ContextValue => value('BOOLEAN', content);
export const decimal = (unscaled: bigint, scale: number): ContextValue =>
  value({ type: 'DECIMAL', precision: 15, scale }, { unscaled, scale });
export const date = (content: string): ContextValue => value('DATE', content);

export type TestContext = Readonly<Record<string, ContextEntry>>;

export interface TestOptions {
  dialect?: Dialect;
  limits?: RenderInput['limits'];
  libraries?: RenderInput['libraries'];
}

/** Parses or fails the test with the problems found. */
export function parsed(source: string): ParsedTemplate {
  const outcome = parseTemplate(source);
  if (!outcome.ok) throw new TypeError(`does not parse: ${JSON.stringify(outcome.problems)}`);
  return outcome.template;
}

export function problemsOf(source: string, limits = {}): FtlProblem[] {
  const outcome = parseTemplate(source, { limits });
  return outcome.ok ? [] : outcome.problems;
}

function inputOf(context: TestContext, options: TestOptions): RenderInput {
  return { dialect: 'POSTGRES', now: NOW, ...options, context: new Map(Object.entries(context)) };
}

export function sql(source: string, context: TestContext = {}, options: TestOptions = {}): RenderOutcome {
  return renderSql(parsed(source), inputOf(context, options));
}

/** The rendered SQL and its binds as `name TYPE value` lines; a failed render as its kind and reason. */
export function bound(
  source: string,
  context: TestContext = {},
  options: TestOptions = {},
): { sql: string; binds: string[] } {
  const outcome = sql(source, context, options);
  if (!outcome.ok) {
    const { kind, reason, guard, message } = outcome.problem;
    return { sql: `FAILED ${kind} ${reason ?? guard ?? message}`, binds: [] };
  }
  return {
    sql: outcome.namedSql,
    binds: outcome.binds.map(({ name, type, value: content }) => `${name} ${type.type} ${shown(content)}`),
  };
}

function shown(content: ContextValue['value']): string {
  if (typeof content === 'object' && content !== null && 'unscaled' in content) {
    return `${content.unscaled}e-${content.scale}`;
  }
  return String(content);
}

/** Preview text: what the language prints. */
export function printed(source: string, context: TestContext = {}, options: TestOptions = {}): string {
  const outcome = renderText(parsed(source), inputOf(context, options));
  if (outcome.ok) return outcome.text;
  const { kind, reason, guard, message, line, column } = outcome.problem;
  return `FAILED ${kind} ${reason ?? guard ?? message} ${line}:${column}`;
}
