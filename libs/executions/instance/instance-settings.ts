import type { Configuration } from '#libs/kernel';
import type { RunSettings } from '../run/run-services.js';
import type { NodeRunnerSettings } from '../run/node-runner.js';
import { defaultTotalMemoryMb } from '../staging/memory-budget.js';
import type { StagingSettings } from '../staging/staging-factory.js';

/** The operator's settings as the parts of an instance take them. */
export interface InstanceSettings {
  run: RunSettings;
  nodes: NodeRunnerSettings;
  staging: StagingSettings & {
    totalMemoryMb: number;
    overrunMb: number;
    spillDirectory: string;
  };
  result: {
    maxBytes: number;
    ttlDefaultSeconds: number;
    ttlMinSeconds: number;
    ttlMaxSeconds: number;
    pageRows: number;
    pageMaxRows: number;
  };
  heartbeatMs: number;
  cancelPollMs: number;
  progressIntervalMs: number;
  runsPerInstance: number;
  parallelNodes: number;
  slotsPerUser: number;
  streamsPerUser: number;
  disconnectGraceMs: number;
  streamHeartbeatMs: number;
}

export function instanceSettings(config: Configuration): InstanceSettings {
  const seconds = (value: number) => value * 1000;
  const times = {
    nodeTimeoutSeconds: config.get('datapipelines.executor.node-timeout-seconds'),
    nodeTimeoutMaxSeconds: config.get('datapipelines.executor.node-timeout-max-seconds'),
    queryTimeoutSeconds: config.get('datapipelines.executor.node-query-timeout-seconds'),
    stagingQueryTimeoutSeconds: config.get('datapipelines.staging.query-timeout-seconds'),
  };
  const cancelGraceMs = seconds(config.get('datapipelines.executor.cancel-grace-seconds'));
  return {
    run: {
      ...times,
      executionTimeoutSeconds: config.get('datapipelines.executor.execution-timeout-seconds'),
      cancelGraceMs,
      progressSampleMs: seconds(config.get('datapipelines.executor.progress-sample-interval-seconds')),
      errorDetail: config.get('datapipelines.executions.error-detail'),
      baseUrl: config.get('datapipelines.auth.base-url') ?? '',
    },
    nodes: {
      ...times,
      fetchSize: config.get('datapipelines.executor.source-fetch-size'),
      writebackBatchRows: config.get('datapipelines.executor.writeback-batch-rows'),
    },
    staging: {
      maxMemoryMb: config.get('datapipelines.staging.max-memory-mb'),
      maxSpillMb: config.get('datapipelines.staging.max-spill-mb'),
      threads: config.get('datapipelines.staging.threads'),
      maxConnections: config.get('datapipelines.staging.max-connections'),
      closeGraceMs: cancelGraceMs,
      totalMemoryMb: config.get('datapipelines.staging.total-memory-mb') || defaultTotalMemoryMb(),
      overrunMb: config.get('datapipelines.staging.overrun-memory-mb'),
      spillDirectory: config.get('datapipelines.staging.spill-directory'),
    },
    result: {
      maxBytes: config.get('datapipelines.result.max-size-bytes'),
      ttlDefaultSeconds: config.get('datapipelines.result.ttl-default-seconds'),
      ttlMinSeconds: config.get('datapipelines.result.ttl-min-seconds'),
      ttlMaxSeconds: config.get('datapipelines.result.ttl-max-seconds'),
      pageRows: config.get('datapipelines.result.page-size-rows'),
      pageMaxRows: config.get('datapipelines.result.page-max-rows'),
    },
    heartbeatMs: seconds(config.get('datapipelines.executor.heartbeat-seconds')),
    cancelPollMs: seconds(config.get('datapipelines.executor.cancel-poll-seconds')),
    progressIntervalMs: seconds(config.get('datapipelines.executor.progress-write-interval-seconds')),
    parallelNodes: config.get('datapipelines.executor.max-parallel-nodes'),
    runsPerInstance: config.get('datapipelines.executor.max-concurrent-executions-per-instance'),
    slotsPerUser: config.get('datapipelines.executor.max-concurrent-executions-per-user'),
    streamsPerUser: config.get('datapipelines.sse.max-streams-per-user'),
    disconnectGraceMs: seconds(config.get('datapipelines.sse.disconnect-grace-seconds')),
    streamHeartbeatMs: seconds(config.get('datapipelines.sse.heartbeat-interval-seconds')),
  };
}
