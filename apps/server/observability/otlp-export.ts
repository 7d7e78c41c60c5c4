import { context, diag, DiagLogLevel, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Configuration, Logger } from '#libs/kernel';
import { ExecutionSampler } from './execution-sampler.js';

/** How long one batch may take to leave, retries included; the end of the process waits for as long. */
const EXPORT_MS = 2000;

/**
 * Records spans and sends them over OTLP. A collector that is away costs spans and a warning, never a request, a run or a
 * clean end. Returns what ends it and sends the rest; that never rejects.
 */
export function startExport(configuration: Configuration, version: string, log: Logger): () => Promise<void> {
  const logger = log.child('tracing');
  const told = (message: string) => logger.warn('Traces could not be sent.', { problem: message });
  const silent = () => undefined;
  diag.setLogger({ error: told, warn: told, info: silent, debug: silent, verbose: silent }, DiagLogLevel.WARN);
  const exporter = new OTLPTraceExporter({
    url: configuration.get('datapipelines.observability.tracing.endpoint'),
    timeoutMillis: EXPORT_MS,
  });
  const provider = new TracerProvider({
    sampler: new ExecutionSampler(configuration.get('datapipelines.observability.tracing.request-percent') / 100),
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': 'penstock',
        'service.version': version,
        'deployment.environment.name': configuration.get('datapipelines.env'),
      }),
    ),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_MS })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  return async () => {
    try {
      await provider.shutdown();
    } catch (error) {
      logger.warn('The last traces could not be sent.', { error });
    } finally {
      trace.disable();
      context.disable();
      diag.disable();
    }
  };
}
