import { describe, it, expect } from '@jest/globals';
import { readConfigurationFile } from './file.js';

const read = (text: string) => {
  const { settings, violations } = readConfigurationFile('f.yaml', text);
  return {
    settings: Object.fromEntries(settings),
    problems: violations.map(({ key, problem }) => `${key} ${problem}`),
  };
};

describe('readConfigurationFile', () => {
  it('accepts nested, dotted and mixed keys, sequences, comments and blanks', () => {
    const text = `
# comment
datapipelines:
  server: {port: 08080}
  org.currency.name: "Euro # not a comment"
  cors:
    allowed-origins: [https://a.example, 'https://b.example']
  staging.h2.max-memory-mb: 512
  redis:
    host:
datapipelines.db.encryption-keys:
  2: abc
`;
    expect(read(text)).toEqual({
      problems: [],
      settings: {
        // The text as written: 08080 is judged by the table, not by YAML’s idea of a number.
        'datapipelines.server.port': '08080',
        'datapipelines.org.currency.name': 'Euro # not a comment',
        'datapipelines.cors.allowed-origins': 'https://a.example,https://b.example',
        'datapipelines.staging.h2.max-memory-mb': '512',
        'datapipelines.db.encryption-keys.2': 'abc',
      },
    });
  });

  it.each(['', '\n# nothing\n', '---\n'])('accepts a file that says nothing: %j', (text) => {
    expect(read(text)).toEqual({ settings: {}, problems: [] });
  });

  it.each([
    [
      'datapipelines.server.prot: 1',
      'datapipelines.server.prot is not a key of this version; did you mean datapipelines.server.port?',
    ],
    ['server.port: 1', 'server.port is not a key of this version'],
    ['datapipelines.server.port: [1, 2]', 'datapipelines.server.port must be one value, not a sequence'],
    ['datapipelines.server.port: {a: 1}', 'datapipelines.server.port.a is not a key of this version'],
    [
      'datapipelines.datasources.file-roots: ["/a,/b"]',
      'datapipelines.datasources.file-roots must be a sequence of texts without commas',
    ],
    [
      'datapipelines.datasources.file-roots: [{a: 1}]',
      'datapipelines.datasources.file-roots must be a sequence of texts without commas',
    ],
    ['datapipelines.server.port: 1\ndatapipelines: {server: {port: 2}}', 'datapipelines.server.port is set twice'],
    ['datapipelines.db.encryption-keys.1: x', 'datapipelines.db.encryption-keys.1 must end in a number from 2 to 255'],
    ['datapipelines.db.encryption-keys: x', 'datapipelines.db.encryption-keys is not a key of this version'],
    ['- a', 'f.yaml must be a mapping of keys'],
    ['just text', 'f.yaml must be a mapping of keys'],
    ['a: 1\na: 2', 'f.yaml is not valid YAML: DUPLICATE_KEY in line 2'],
    ['---\na: 1\n---\nb: 1', 'f.yaml is not valid YAML: MULTIPLE_DOCS in line 3'],
    ['datapipelines.cors.allowed-origins: *', 'f.yaml is not valid YAML: BAD_ALIAS in line 1'],
    ['datapipelines.cors.allowed-origins: *all', 'f.yaml uses a YAML alias; put texts that start with * in quotes'],
  ])('refuses %j', (text, problem) => {
    expect(read(text).problems).toContainEqual(expect.stringContaining(problem));
  });

  it('is not held up by aliases that multiply or keys nested without end', () => {
    // A small file must not cost gigabytes, whoever wrote it.
    const bomb = Array.from(
      { length: 9 },
      (_, i) =>
        `k${i}: &a${i} [${Array(10)
          .fill(i ? `*a${i - 1}` : 'x')
          .join()}]`,
    );
    expect(read(bomb.join('\n')).problems).toHaveLength(1);
    expect(read(`${'{a: '.repeat(60)}1${'}'.repeat(60)}`).problems).toEqual([
      expect.stringMatching(/is nested too deeply$/),
    ]);
  });
});
