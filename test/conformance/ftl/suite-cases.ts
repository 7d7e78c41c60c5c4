import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Where Apache FreeMarker's own suite may lie, nothing of which is part of the project (contract 05 §16): a folder that
 * a variable names, the one beside the checkout, and that of a FreeMarker checkout beside it.
 */
const FOLDERS = [
  ...(process.env.FREEMARKER_SUITE ? [process.env.FREEMARKER_SUITE] : []),
  join(process.cwd(), '..', 'shared', 'conformance', 'freemarker'),
  join(
    ...[process.cwd(), '..', 'freemarker', 'freemarker-jython25', 'src', 'test', 'resources'],
    ...['freemarker', 'test', 'templatesuite'],
  ),
];

export interface SuiteCase {
  template: string;
  /** Null: the template asserts for itself. */
  expected: string | null;
}

export const unix = (text: string): string => text.replace(/\r\n?/g, '\n');

/** The suite does not care about the last line break: its files disagree with each other on it. */
export const withoutEnd = (text: string): string => text.replace(/\n$/, '');

/** The suite's files, of whichever folder has them. */
export class SuiteFiles {
  private constructor(
    readonly folder: string,
    readonly cases: ReadonlyMap<string, SuiteCase>,
  ) {}

  /** Undefined: no folder has all of these cases; each is named as in `testcases.xml`. */
  static with(names: readonly string[]): SuiteFiles | undefined {
    for (const folder of FOLDERS) {
      if (!existsSync(join(folder, 'testcases.xml'))) continue;
      const files = new SuiteFiles(folder, readCases(folder));
      if (names.every((name) => files.#has(name))) return files;
    }
    return undefined;
  }

  #has(name: string): boolean {
    const one = this.cases.get(name);
    return one !== undefined && existsSync(join(this.folder, 'templates', one.template));
  }

  /** Without the licence at its head, as the suite's own runner reads it. */
  template(file: string): string {
    return unix(readFileSync(join(this.folder, 'templates', file), 'utf8')).replace(
      /^(<#--[\s\S]*?-->|\[#--[\s\S]*?--\])\n/,
      '',
    );
  }

  /** Undefined: the suite has no such template. */
  included(file: string): string | undefined {
    return existsSync(join(this.folder, 'templates', file)) ? this.template(file) : undefined;
  }

  expected(file: string): string {
    return unix(readFileSync(join(this.folder, 'expected', file), 'utf8')).replace(/^\/\*[\s\S]*?\*\/\n/, '');
  }
}

function readCases(folder: string): Map<string, SuiteCase> {
  const xml = readFileSync(join(folder, 'testcases.xml'), 'utf8');
  const cases = new Map<string, SuiteCase>();
  for (const [, attributes = ''] of xml.matchAll(/<testCase\s+([^>]*?)\/?>/g)) {
    const attribute = (name: string): string | undefined => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1];
    const name = attribute('name');
    if (name === undefined) continue;
    cases.set(name, {
      template: attribute('template') ?? `${name.replace(/\[#endTN\].*/, '')}.ftl`,
      expected:
        attribute('noOutput') === 'true' ? null : (attribute('expected') ?? `${name.replace('[#endTN]', '')}.txt`),
    });
  }
  return cases;
}
