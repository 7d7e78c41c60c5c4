import type { Configuration, Logger } from '#libs/kernel';

/**
 * Starts to trace when `datapipelines.observability.tracing.enabled` (02 §12); a server that does not trace never loads
 * the exporter. Resolves with what ends it and sends the rest; that never rejects.
 */
export async function startTracing(
  configuration: Configuration,
  version: string,
  log: Logger,
): Promise<() => Promise<void>> {
  if (!configuration.get('datapipelines.observability.tracing.enabled')) return () => Promise.resolve();
  const { startExport } = await import('./otlp-export.js');
  return startExport(configuration, version, log);
}
