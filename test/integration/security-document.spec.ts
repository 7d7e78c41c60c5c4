import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { root } from '../fixtures/keeper-state.js';

const text = readFileSync(join(root, 'docs/security.md'), 'utf8');
const rows = text
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));

/** Chapters of ASVS 5.0.0 that have something to say of a server without WebRTC. */
const CHAPTERS = Array.from({ length: 16 }, (_, n) => n + 1);

describe('docs/security.md', () => {
  it('has a row for every chapter that applies', () => {
    const chapters = rows.flatMap(([, requirements = '']) =>
      [...requirements.matchAll(/(?<![\d.])(\d+)\.\d/g)].map(([, chapter]) => Number(chapter)),
    );
    expect([...new Set(chapters)].sort((a, b) => a - b)).toEqual(CHAPTERS);
  });

  it.each(rows.map(([, requirements = '', , suites = '']) => [requirements, suites]))(
    '%s: names suites that exist',
    (_requirements, suites) => {
      const files = [...suites.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
      expect(files).not.toEqual([]);
      expect(files.filter((file) => !file.endsWith('.spec.ts') || !existsSync(join(root, file)))).toEqual([]);
    },
  );

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
