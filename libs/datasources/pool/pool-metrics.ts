import { Counter, register } from 'prom-client';

const NAME = 'datapipelines_datasource_pool_hard_closed_total';

/**
 * Connections cut because they were still out when the retirement ceiling of their pool passed (06 §5). One counter of
 * the process, or of a thread of it: a scrape adds the threads up.
 */
export function hardClosedCounter(): Counter {
  const present = register.getSingleMetric(NAME) as Counter | undefined;
  return present ?? new Counter({ name: NAME, help: 'Connections cut at the ceiling of a pool that was replaced.' });
}
