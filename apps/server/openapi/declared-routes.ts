import 'reflect-metadata';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { CONTROLLER_WATERMARK } from '@nestjs/common/constants.js';
import { routesOfController, type ControllerClass, type HandlerRoute } from '../http/routes-of.js';

const SERVER = join(import.meta.dirname, '..');

/** Every route that a controller file of the server declares, without a process; whoever forgets to list it elsewhere. */
export async function declaredRoutes(): Promise<HandlerRoute[]> {
  return (await declaredControllers()).flatMap(routesOfController);
}

/** The classes that declare them. */
export async function declaredControllers(): Promise<ControllerClass[]> {
  const files = globSync('**/*.controller.{js,ts}', { cwd: SERVER }).sort();
  const modules = await Promise.all(
    files.map((file) => import(join(SERVER, file)) as Promise<Record<string, unknown>>),
  );
  return modules.flatMap((module) => Object.values(module).filter(isController));
}

function isController(value: unknown): value is ControllerClass {
  return typeof value === 'function' && Reflect.getMetadata(CONTROLLER_WATERMARK, value) === true;
}
