import type { Request, Response } from 'express';
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

  refusal(request: Request, response: Response): PenstockError | undefined {
    const methods = this.#routes.filter(({ pattern }) => pattern.test(request.path)).map(({ method }) => method);
    if (methods.length === 0) return undefined;
    const allow = [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])];
    response.setHeader('Allow', allow.join(', '));
    return new PenstockError('request.method_not_allowed', { details: { allow } });
  }
}

function toPattern(path: string): RegExp {
  const source = path
    .split('/')
    .map((segment) =>
      segment.startsWith(':')
        ? '[^/]+'
        : segment.startsWith('*')
          ? '.+'
          : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    )
    .join('/');
  return new RegExp(`^${source}$`);
}
