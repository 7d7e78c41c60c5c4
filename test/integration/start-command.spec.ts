import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../fixtures/keeper-state.js';

const FLAGS =
  /--[a-z-]+(?:=\w+)?(?=["'], (?:["']dist\/apps\/server\/main\.js|join\(root, 'dist\/apps\/server\/main\.js))/g;

describe('the command that starts the server', () => {
  it('is the same in the image, from the console, in the demo, and where it is measured', () => {
    const flags = ['Dockerfile', 'scripts/start.mjs', 'scripts/demo.mjs', 'test/fixtures/server-process.ts'].map(
      (file) => readFileSync(join(root, file), 'utf8').match(FLAGS)?.join(' ') ?? `none found in ${file}`,
    );
    expect(new Set(flags)).toEqual(new Set(['--max-semi-space-size=16']));
  });
});
