import { describe, expect, it } from '@jest/globals';
import { parseResourceUri, templateUri } from './resource-uri.js';

describe('resource URIs', () => {
  it.each([
    ['datapipelines://docs/skill', { kind: 'doc', name: 'skill' }],
    ['datapipelines://docs/skill/tools', { kind: 'doc', name: 'tools' }],
    ['datapipelines://pipelines/x', { kind: 'pipeline', id: 'x' }],
    ['datapipelines://pipelines/x/versions/12', { kind: 'pipeline', id: 'x', version: 12 }],
    ['datapipelines://pipelines/x/parameters', { kind: 'pipeline', id: 'x', parameters: true }],
    ['datapipelines://templates/a/b.sql', { kind: 'template', name: 'a/b.sql' }],
    ['datapipelines://templates/a%2Fb.sql', { kind: 'template', name: 'a/b.sql' }],
    ['datapipelines://templates/a/b.sql/versions/3', { kind: 'template', name: 'a/b.sql', version: 3 }],
    ['datapipelines://templates/a%2Fversions%2F3', { kind: 'template', name: 'a/versions/3' }],
    ['datapipelines://datasources', { kind: 'datasources' }],
    ['datapipelines://datasources/shop', { kind: 'datasource', name: 'shop' }],
    ['datapipelines://executions/x', { kind: 'execution', id: 'x' }],
    ['datapipelines://executions/x/events', { kind: 'execution', id: 'x', events: true }],
  ])('%s', (uri, expected) => expect(parseResourceUri(uri)).toEqual(expected));

  it.each([
    '', 'datapipelines://', 'datapipelines://nope', 'http://pipelines/x', 'datapipelines://pipelines', 'datapipelines://pipelines/',
    'datapipelines://pipelines/x/versions/0', 'datapipelines://pipelines/x/versions/99999999999', 'datapipelines://pipelines/x/y',
    'datapipelines://docs', 'datapipelines://docs/skill/a/b', 'datapipelines://templates/%ff', 'datapipelines://templates/a%00b', 'datapipelines://datasources/%00', 'datapipelines://datasources/%',
    `datapipelines://templates/${'x'.repeat(2000)}`, 'DATAPIPELINES://datasources',
  ])('%s addresses nothing', (uri) => expect(parseResourceUri(uri)).toBeUndefined()); // prettier-ignore

  it('gives every template a URI that leads back to it', () => {
    for (const name of ['a/b.sql', 'a/versions/3', 'a/b-c_d.e']) {
      expect(parseResourceUri(templateUri(name))).toEqual({ kind: 'template', name });
    }
  });
});
