import { PenstockError } from '#libs/kernel';

export interface Route {
  method: string;
  /** Express path, such as `/api/v1/pipelines/:id`. */
  path: string;
}

/** All routes of the process, to tell a wrong verb (405 with `Allow`) from an unknown path (404). */
export class RouteTable {
  #routes: { method: string; pattern: RegExp }[] = [];

  set(routes: readonly Route[]): void {
    this.#routes = routes.map(({ method, path }) => ({ method: method.toUpperCase(), pattern: toPattern(path) }));
  }

  /** The verbs of a raw path, or undefined where nothing answers. The published tree answers GET alone (03 §7). */
  allowed(path: string): string[] | undefined {
    const methods = this.#routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    if (methods.length === 0) return undefined;
    if (methods.includes('ALL')) return ['GET', 'OPTIONS'];
    return [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])];
  }

  /** What an unanswered request is told. */
  refusal(path: string): { error: PenstockError; allow?: string[] } {
    const allow = this.allowed(path);
    if (!allow) return { error: new PenstockError('request.not_found') };
    return { error: new PenstockError('request.method_not_allowed', { details: { allow } }), allow };
  }
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.split('/').map(segmentPattern).join('/')}$`);
}

function segmentPattern(segment: string): string {
  if (segment.startsWith(':')) return '[^/]+';
  if (segment.startsWith('*')) return '.+';
  if (segment.startsWith('{*')) return '.*';
  return segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
