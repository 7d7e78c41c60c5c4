import { PenstockError } from '#libs/kernel';

/** Published endpoints live below this; the one place that says so. */
export const ENDPOINT_ROOT = '/api/x';

const MAX_SEGMENTS = 10;
const MAX_LENGTH = 200;
const LITERAL = /^[a-z0-9][a-z0-9_.-]{0,63}$/;
const VARIABLE = /^\{([a-z_][a-z0-9_]*)\}$/;

export type Segment = { kind: 'literal'; text: string } | { kind: 'variable'; name: string };

/** A published path such as `/lending/{borough}/home` (03 §7). */
export interface PathPattern {
  /** Spelled as stored: leading `/`, without `/api/x`. */
  text: string;
  segments: readonly Segment[];
  variables: readonly string[];
}

/** People may paste the path of the URL they call. */
export function withoutRoot(path: string): string {
  return path.startsWith(`${ENDPOINT_ROOT}/`) ? path.slice(ENDPOINT_ROOT.length) : path;
}

/** @throws `endpoint.path_invalid` with what is wrong and where */
export function parsePathPattern(input: string): PathPattern {
  const text = withoutRoot(input);
  if (!text.startsWith('/')) throw invalid('The path must start with “/”.', 'leading_slash');
  if (text.length > MAX_LENGTH) throw invalid(`The path is longer than ${MAX_LENGTH} characters.`, 'too_long');
  if (text.endsWith('/')) throw invalid('The path must not end with “/”.', 'trailing_slash');
  const parts = text.slice(1).split('/');
  if (parts.length > MAX_SEGMENTS)
    throw invalid(`The path has more than ${MAX_SEGMENTS} segments.`, 'too_many_segments');
  const segments = parts.map(parseSegment);
  const variables = segments.flatMap((segment) => (segment.kind === 'variable' ? [segment.name] : []));
  const repeated = variables.find((name, index) => variables.indexOf(name) !== index);
  if (repeated !== undefined)
    throw invalid(`The variable {${repeated}} stands in the path twice.`, 'repeated_variable');
  return { text, segments, variables };
}

function parseSegment(text: string): Segment {
  const variable = VARIABLE.exec(text)?.[1];
  if (variable !== undefined) return { kind: 'variable', name: variable };
  if (LITERAL.test(text)) return { kind: 'literal', text };
  throw invalid(
    `“${text.slice(0, 64)}” is no path segment. Use lower-case letters, digits, “_”, “.” and “-”, or a {variable}.`,
    'segment',
  );
}

/** Two patterns conflict when some URL matches both: equal length and, at each place, equal literals or a variable. */
export function conflicts(one: PathPattern, other: PathPattern): boolean {
  return (
    one.segments.length === other.segments.length &&
    one.segments.every((segment, index) => {
      const counterpart = other.segments[index] as Segment;
      return segment.kind === 'variable' || counterpart.kind === 'variable' || segment.text === counterpart.text;
    })
  );
}

/** The nodes of the endpoint tree from the pattern itself up to `/`, deepest first. */
export function ancestors(text: string): string[] {
  const nodes: string[] = [];
  for (let node = text; node !== ''; node = node.slice(0, node.lastIndexOf('/'))) nodes.push(node);
  return [...nodes, '/'];
}

function invalid(message: string, reason: string): PenstockError {
  return new PenstockError('endpoint.path_invalid', { message, details: { reason } });
}
