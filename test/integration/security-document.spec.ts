import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { root } from '../fixtures/keeper-state.js';

const text = readFileSync(join(root, 'docs/security.md'), 'utf8');

/** The sections of ASVS 5.0.0 that have requirements of level 1 or 2; others are of level 3 alone. */
const SECTIONS: Readonly<Record<number, readonly number[]>> = {
  1: [1, 2, 3, 4, 5],
  2: [1, 2, 3, 4],
  3: [2, 3, 4, 5, 7],
  4: [1, 2, 3, 4],
  5: [1, 2, 3, 4],
  6: [1, 2, 3, 4, 5, 6, 8],
  7: [1, 2, 3, 4, 5, 6],
  8: [1, 2, 3, 4],
  9: [1, 2],
  10: [1, 2, 3, 4, 5, 6, 7],
  11: [1, 2, 3, 4, 5, 6],
  12: [1, 2, 3],
  13: [1, 2, 3, 4],
  14: [1, 2, 3],
  15: [1, 2, 3],
  16: [1, 2, 3, 4, 5],
  17: [1, 2, 3],
};

interface Row {
  section: string;
  met: string;
  proofs: string;
}

/** Rows of the table, in their order. */
function rowsOf(document: string): Row[] {
  return document
    .split('\n')
    .filter((line) => /^\| \d/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, section = '', met = '', proofs = '']) => ({ section, met, proofs }));
}

/** First arguments of the calls of a suite, on their line or the next: the titles of its tests are among them. */
function titlesOf(suite: string): Set<string | undefined> {
  return new Set([...suite.matchAll(/\(\s*(['"`])((?:(?!\1).)*)\1,/g)].map(([, , title]) => title));
}

/** What is wrong with the proofs of a row: nothing, or each by its name. */
function faultsOf({ met, proofs }: Row): string[] {
  if (met.startsWith('does not apply')) {
    return /^does not apply: .{8}/.test(met) && proofs === '—' ? [] : ['says that it does not apply, and not why'];
  }
  const named = proofs.split('<br>').map((proof) => /^`([^`]+\.spec\.ts)`: \*([^*]+)\*$/.exec(proof));
  return named.flatMap((proof) => {
    const [, file = '', title = ''] = proof ?? [];
    if (!proof || !existsSync(join(root, file))) return [`names no suite that exists: ${file || proofs}`];
    const suite = readFileSync(join(root, file), 'utf8');
    return titlesOf(suite).has(title) ? [] : [`${file} has no test "${title}"`];
  });
}

const rows = rowsOf(text);

describe('docs/security.md', () => {
  it('has one row for every section that applies or does not, in order', () => {
    const expected = Object.entries(SECTIONS).flatMap(([chapter, sections]) =>
      sections.map((each) => `${chapter}.${each}`),
    );
    expect(rows.map(({ section }) => section.split(' ')[0])).toEqual(expected);
  });

  it.each(rows.map((row) => [row.section, row] as const))('%s: is proved by tests that are there', (_section, row) => {
    expect(faultsOf(row)).toEqual([]);
  });

  it('is read by a judge that notices a suite, a title or a reason that is missing', () => {
    const [row] = rows as [Row];
    const [proof = ''] = row.proofs.split('<br>');
    expect(faultsOf({ ...row, proofs: proof.replace('.spec.ts', '-gone.spec.ts') })).toHaveLength(1);
    expect(faultsOf({ ...row, proofs: proof.replace(/\*$/, ' no more*') })).toHaveLength(1);
    expect(faultsOf({ ...row, proofs: proof.replace(/`: .*/, '`') })).toHaveLength(1);
    expect(faultsOf({ ...row, proofs: '' })).toHaveLength(1);
    expect(faultsOf({ ...row, met: 'does not apply', proofs: '—' })).toHaveLength(1);
  });

  it('explains every deviation by the number of its requirement', () => {
    const deviations = text.split('## Deviations')[1]?.split('\n## ')[0] ?? '';
    const points = deviations.split('\n- ').slice(1);
    expect(points.length).toBeGreaterThan(10);
    expect(points.filter((point) => !/^\*\*\d+\.\d+/.test(point))).toEqual([]);
  });

  it('has the paragraphs that its rows point to', () => {
    const wanted = rows.flatMap(({ met }) => [...met.matchAll(/below, \*(\w[\w ]*)\*/g)].map(([, name = '']) => name));
    expect(wanted.length).toBeGreaterThan(6);
    expect(wanted.filter((name) => !text.includes(`\n**${name}.**`))).toEqual([]);
  });

  it('names configuration keys that there are', () => {
    const keys = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
    const named = [
      ...text.matchAll(/`((?:auth|jwt|db|limits|result|audit|privacy|datasources|observability)\.[a-z.-]+)`/g),
    ];
    expect(named.length).toBeGreaterThan(8);
    expect(named.map(([, key = '']) => key).filter((key) => !keys.includes(`datapipelines.${key}`))).toEqual([]);
  });

  it('leads to pages that exist', () => {
    const pages = [...text.matchAll(/\]\(([\w./-]+)\)/g)].map(([, page = '']) => page);
    expect(pages.filter((page) => !existsSync(join(root, 'docs', page)))).toEqual([]);
  });

  it('names commands that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
    const commands = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, command = '']) => command);
    expect(commands.filter((command) => !(command in scripts))).toEqual([]);
  });
});
