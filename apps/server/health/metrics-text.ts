import { AggregatorRegistry, register } from 'prom-client';

type Metrics = Awaited<ReturnType<typeof register.getMetricsAsJSON>>;

/** Everything this process counts, in the text format; what its threads count for themselves is added up. */
export async function metricsText(ofThreads: () => Promise<Metrics[]>): Promise<string> {
  const threads = await ofThreads();
  if (threads.length === 0) return register.metrics();
  return AggregatorRegistry.aggregate([await register.getMetricsAsJSON(), ...threads]).metrics();
}
