import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findProgram } from '../../fixtures/installed-program.js';

/** What an engine made of one template. */
export type Outcome =
  | { ok: true; text: string }
  /** Line and column are 0 where the engine names no place. */
  | { ok: false; message: string; line: number; column: number };

/** Where Debian's `libfreemarker-java` puts the engine. */
export const REFERENCE_JAR = '/usr/share/java/freemarker.jar';

export interface Java {
  program: string;
  jar: string;
}

/** The reference engine, or the sentence that says what is missing. */
export function findReference(): Java | string {
  const program = findProgram('java');
  if (program === undefined) return 'Java is not installed (apt-get install default-jdk-headless libfreemarker-java).';
  if (!existsSync(REFERENCE_JAR)) return 'Apache FreeMarker is not installed (apt-get install libfreemarker-java).';
  return { program, jar: REFERENCE_JAR };
}

/** Renders every template with Apache FreeMarker in one JVM. */
export async function renderWithReference(
  { program, jar }: Java,
  templates: readonly string[],
): Promise<{ version: string; outcomes: Outcome[] }> {
  const source = join(import.meta.dirname, 'Reference.java');
  const child = spawn(program, ['-Xss8m', '-cp', jar, source], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  child.stdin.end(templates.map((template) => `${Buffer.from(template, 'utf8').toString('base64')}\n`).join(''));
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(line);
  const code = await ended;
  const [version = '', ...answers] = lines;
  if (code !== 0 || answers.length !== templates.length) {
    throw new TypeError(`${source} ended with code ${code} after ${answers.length} of ${templates.length} templates.`);
  }
  return { version, outcomes: answers.map(outcomeOf) };
}

const decoded = (text: string): string => Buffer.from(text, 'base64').toString('utf8');

function outcomeOf(answer: string): Outcome {
  const [state, ...rest] = answer.split(' ');
  if (state === 'OK') return { ok: true, text: decoded(rest[0] ?? '') };
  const [line = '0', column = '0', message = ''] = rest;
  return { ok: false, line: Number(line), column: Number(column), message: decoded(message) };
}
