import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { BoundedSeries } from './bounded-series.js';
import { ExecutionMetrics } from './execution-metrics.js';

describe('series of stored ids', () => {
  it('are kept for those used last, so that a process that lives long does not fill its memory and its scrapes', () => {
    const forgotten: string[] = [];
    const series = new BoundedSeries<{ node_id: string }>(2, ({ node_id }) => forgotten.push(node_id));
    for (const node_id of ['a', 'b', 'a', 'c', 'a', 'd']) series.use({ node_id });
    expect(forgotten).toEqual(['b', 'c']);
    expect(series.size).toBe(2);
  });

  it('of nodes and pipelines stay bounded in what is scraped, however many have run', async () => {
    const registry = new Registry();
    const metrics = new ExecutionMetrics(registry);
    const node = { id: 'n', type: 'CALCULATOR' } as never;
    for (let pipeline = 0; pipeline < 2500; pipeline++) {
      metrics.nodeEnded(`p${pipeline}`, node, { duration_ms: 1, rows_out: 1 } as never);
      metrics.executionEnded('SUCCESS', `p${pipeline}`, 1);
    }
    const text = await registry.metrics();
    for (const name of ['nodes_rows_out_total', 'nodes_duration_seconds_count', 'executions_total']) {
      expect(text.split('\n').filter((line) => line.startsWith(`datapipelines_${name}{`))).toHaveLength(2000);
    }
    expect(text).not.toContain('pipeline_id="p0"');
    expect(text).toContain('pipeline_id="p2499"');
  });
});
