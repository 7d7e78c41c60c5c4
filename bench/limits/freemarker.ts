import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../test/fixtures/installed-program.js';

const JAR = '/usr/share/java/freemarker.jar';

/** Where Apache FreeMarker can be run, or what is missing. */
export function freemarker(): { java: string } | { missing: string } {
  const java = findProgram('java');
  if (java === undefined) return { missing: 'Java is not installed' };
  return existsSync(JAR) ? { java } : { missing: 'Apache FreeMarker is not installed (libfreemarker-java)' };
}

/** Renders a second of Apache FreeMarker on a JVM that was warmed up on the same template. */
export async function freemarkerRenders(java: string, template: string, seconds: number): Promise<number> {
  const program = join(import.meta.dirname, 'FreemarkerRender.java');
  const { stdout } = await promisify(execFile)(java, ['-cp', JAR, program, template, '3', String(seconds)]);
  return Number(stdout);
}
