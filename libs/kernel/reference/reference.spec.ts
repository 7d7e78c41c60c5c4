import { describe, it, expect } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { ALL_KEYS, environmentName, keyDefinition } from '../configuration/table.js';
import { catalogue, GRAPHQL_PROTOCOL_CODES } from '../error-catalogue.js';
import { renderConfigurationReference, renderEnvExample, renderErrorCatalogue } from './index.js';

const committed = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe('the generated references', () => {
  it.each([
    ['docs/generated/errors.md', renderErrorCatalogue],
    ['docs/configuration.md', renderConfigurationReference],
    ['.env.example', renderEnvExample],
  ])('%s is what the code says now', (path, render) => {
    // After a change of a table run: npm run build && node scripts/generate-docs.mjs
    expect(committed(path)).toBe(render());
  });

  it('anchors every code where doc_url points', () => {
    const text = renderErrorCatalogue();
    for (const code of Object.keys({ ...catalogue, ...GRAPHQL_PROTOCOL_CODES }))
      expect(text).toContain(`<a id="${code}"></a>`);
  });

  it('names every key and its variable', () => {
    const reference = renderConfigurationReference();
    const example = renderEnvExample();
    for (const key of ALL_KEYS) {
      const numbered = keyDefinition(key).numbered;
      expect(reference).toContain(`| \`${key}${numbered ? '.N' : ''}\` |`);
      expect(example).toContain(`# ${environmentName(key)}${numbered ? '_2' : ''}=`);
    }
  });

  it('sets nothing in the example: copied as it is, it changes no default', () => {
    expect(
      renderEnvExample()
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#')),
    ).toEqual([]);
  });
});
