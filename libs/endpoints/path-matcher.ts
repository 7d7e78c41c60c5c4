import type { PathPattern } from './path-pattern.js';

export interface PathMatch<T> {
  target: T;
  /** Percent-decoded values of the path's variables. */
  variables: ReadonlyMap<string, string>;
}

interface Node<T> {
  literals: Map<string, Node<T>>;
  variable?: Node<T>;
  target?: { value: T; pattern: PathPattern };
}

/**
 * Finds the one pattern that a raw path matches: literals byte for byte, a variable takes one non-empty segment. No two
 * published patterns conflict, so at most one can match; the tree still prefers literals, should old rows disagree.
 */
export class PathMatcher<T> {
  readonly #root: Node<T> = { literals: new Map() };

  constructor(entries: Iterable<{ pattern: PathPattern; target: T }>) {
    for (const { pattern, target } of entries) this.#add(pattern, target);
  }

  /** `rawPath` starts with `/` and is not decoded. */
  match(rawPath: string): PathMatch<T> | undefined {
    const segments = rawPath.slice(1).split('/');
    const found = this.#find(this.#root, segments, 0);
    if (!found) return undefined;
    const variables = new Map<string, string>();
    for (const [index, segment] of found.pattern.segments.entries()) {
      if (segment.kind === 'literal') continue;
      const value = decodeSegment(segments[index] as string);
      if (value === undefined) return undefined;
      variables.set(segment.name, value);
    }
    return { target: found.value, variables };
  }

  #add(pattern: PathPattern, value: T): void {
    let node = this.#root;
    for (const segment of pattern.segments) {
      if (segment.kind === 'variable') node = node.variable ??= { literals: new Map() };
      else {
        const next = node.literals.get(segment.text) ?? { literals: new Map() };
        node.literals.set(segment.text, next);
        node = next;
      }
    }
    node.target = { value, pattern };
  }

  #find(node: Node<T>, segments: readonly string[], at: number): Node<T>['target'] {
    const segment = segments[at];
    if (segment === undefined) return node.target;
    const literal = node.literals.get(segment);
    const found = literal && this.#find(literal, segments, at + 1);
    if (found) return found;
    return node.variable && segment !== '' ? this.#find(node.variable, segments, at + 1) : undefined;
  }
}

/** A segment that is no UTF-8 when decoded names nothing. */
function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
