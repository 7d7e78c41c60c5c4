import type { NextFunction, Request, Response } from 'express';
import type { Admission } from '#libs/identity';
import { PenstockError } from '#libs/kernel';
import { readBody, type BodyLimits } from './body.js';
import type { PathClass } from './raw-path.js';
import { contextOf } from './request-context.js';
import { routesOfController, type ControllerClass } from './routes-of.js';

/** A handler that answers by itself: nothing is made of what it returns. */
type OwnAnswer = (request: Request, response: Response) => Promise<void>;

export interface DirectRoute<Name extends string = string> {
  /** Its decorators say path, verb and operation, to this as to the router and to what documents the routes. */
  controller: { readonly [handler in Name]: OwnAnswer } & object;
  handler: Name;
  /** The whole of this class, byte for byte what the router's pattern for the handler matches. */
  pathClass: PathClass;
}

export interface DirectRouteParts {
  admission: Pick<Admission, 'admit' | 'carryOut'>;
  limits: BodyLimits;
}

/**
 * A handler ahead of the router, for what is asked so often that finding it among all routes, and the framework's way
 * to it, would cost as much as some of the work. It stands behind the same steps of the request as every handler, and
 * has around it what every handler has, in the same order: its operation, the trail of what is refused inside, the body.
 * Every failure goes to the one place that writes errors. Other verbs of the path go on to the router.
 */
export function directRoute<Name extends string>(
  { controller, handler, pathClass }: DirectRoute<Name>,
  { admission, limits }: DirectRouteParts,
) {
  const label = `${controller.constructor.name}.${handler}`;
  const route = routesOfController(controller.constructor as ControllerClass).find((each) => each.handler === label);
  if (!route || route.operation === 'public') throw new TypeError(`${label} is no route of somebody who is known.`);
  const { method, operation, path: template } = route;
  const answer = controller[handler].bind(controller) as OwnAnswer;

  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const { path, principal } = contextOf(request);
    if (path.class !== pathClass || (method !== 'ALL' && method !== request.method)) return next();
    // What metrics and spans call it; the router says it of its own.
    request.route = { path: template };
    if (!principal) throw new PenstockError('auth.api_key.missing');
    await admission.admit(principal, operation, { path: path.path, method: request.method });
    await admission.carryOut(principal, operation, async () => {
      request.body = await readBody(request, limits);
      await answer(request, response);
    });
  };
}
