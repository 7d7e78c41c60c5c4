import { RequestMethod, type INestApplication } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { DESCRIPTION, type DescribedRoute } from './describe.decorator.js';
import { OPERATION, type HandlerOperation } from './operation.decorator.js';
import type { Route } from './route-table.js';

export interface HandlerRoute extends Route {
  handler: string;
  operation: HandlerOperation;
  /** Absent: somebody forgot `@Describe`; a test names the handler. */
  description?: DescribedRoute;
  /** Text of the handler; a test holds what it reads against what is described. */
  source: string;
}

/** A class of handlers. */
export type ControllerClass = abstract new (...parts: never[]) => object;

/** Every route of the process with its operation. A handler without one stops the boot (04 §2). */
export function routesOf(app: INestApplication): HandlerRoute[] {
  const controllers = app.get(DiscoveryService, { strict: false }).getControllers();
  return controllers.flatMap(({ metatype }) => routesOfController(metatype as ControllerClass));
}

/** The routes that one controller declares. @throws TypeError for a handler without `@Operation` */
export function routesOfController(controller: ControllerClass): HandlerRoute[] {
  const prototype = controller.prototype as Record<string, object>;
  const base = String(Reflect.getMetadata(PATH_METADATA, controller) ?? '');
  return new MetadataScanner().getAllMethodNames(prototype).flatMap((name) => {
    const handler = prototype[name] as object;
    const path: unknown = Reflect.getMetadata(PATH_METADATA, handler);
    if (path === undefined) return [];
    const operation = Reflect.getMetadata(OPERATION, handler) as HandlerOperation | undefined;
    const label = `${controller.name}.${name}`;
    if (operation === undefined) throw new TypeError(`${label} has no @Operation`);
    const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod] as string;
    const description = Reflect.getMetadata(DESCRIPTION, handler) as DescribedRoute | undefined;
    return [
      { method, path: join(base, String(path)), handler: label, operation, description, source: String(handler) },
    ];
  });
}

function join(base: string, path: string): string {
  const parts = [base, path].map((part) => part.replace(/^\/|\/$/g, '')).filter((part) => part !== '');
  return `/${parts.join('/')}`;
}
