import { describe, expect, it } from '@jest/globals';
import { isPenstockError } from '#libs/kernel';
import type { PipelineDocument, PipelineNode } from '#libs/pipelines';
import { trialNode } from './trial-values.js';

const place = { dependsOn: [], settings: {} };
const nodes = [
  { id: 'read', type: 'DQL', source: 'pg', template: { id: 't', version: 1 }, ...place },
  { id: 'staged', type: 'DQL', source: 'tempdb', template: { id: 't', version: 1 }, ...place },
  { id: 'call', type: 'PIPELINE', pipeline: { name: 'a/b', version: 3 }, parameters: new Map(), ...place },
] satisfies PipelineNode[];
const document = { nodes } as unknown as PipelineDocument;

describe('a node that is tried by itself', () => {
  it('runs SQL on a datasource', () => {
    expect(trialNode(document, 'read')).toBe(nodes[0]);
  });

  it.each([
    ['staged', 'tempdb_source', 'whole pipeline'],
    ['call', 'pipeline_node', '"a/b"'],
  ])('is not %s: %s, with what to do instead', (id, reason, advice) => {
    let caught: unknown;
    try {
      trialNode(document, id);
    } catch (error) {
      caught = error;
    }
    if (!isPenstockError(caught)) throw new TypeError('the node was not refused');
    expect(caught.code).toBe('pipeline.node.standalone_execution_refused');
    expect(caught.details).toMatchObject({ node_id: id, reason });
    expect(caught.message).toContain(advice);
  });

  it('exists', () => {
    expect(() => trialNode(document, 'nobody')).toThrow(expect.objectContaining({ code: 'pipeline.node.not_found' }));
  });
});
