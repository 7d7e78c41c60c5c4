import { isJsonObject } from '#libs/kernel';
import { integerToken, type ObjectReader } from './object-reader.js';
import type { NodeSettings, NodeType, PipelineSettings } from './pipeline-document.js';

/** Bounds of the operator that a document must respect. */
export interface DocumentLimits {
  /** `datapipelines.executor.node-timeout-seconds`: a node's wall clock when it sets none. */
  nodeTimeoutSeconds: number;
  nodeTimeoutMaxSeconds: number;
  nodeQueryTimeoutMaxSeconds: number;
  /** `datapipelines.staging.max-memory-mb`. */
  stagingMaxMemoryMb: number;
}

/** Reads the document's `settings` (contract 01 §1.2). */
export function readSettings(root: ObjectReader, limits: DocumentLimits): PipelineSettings {
  const reader = root.child('settings');
  if (!reader) return {};
  const settings: PipelineSettings = {};
  const tempdb = reader.child('tempdb');
  if (tempdb) {
    readEngine(tempdb, settings);
    readEngineConfig(tempdb, settings, limits);
    tempdb.finish();
  }
  const timeout = reader.value('query_timeout_seconds');
  if (timeout !== undefined) {
    const seconds = within(timeout, limits.nodeQueryTimeoutMaxSeconds);
    if (seconds === undefined) {
      reader.notes.fail(
        'pipeline.validation.pipeline_query_timeout_invalid',
        reader.at('query_timeout_seconds'),
        `"query_timeout_seconds" must be a whole number from 1 to ${limits.nodeQueryTimeoutMaxSeconds}.`,
        { max: limits.nodeQueryTimeoutMaxSeconds },
      );
    } else settings.queryTimeoutSeconds = seconds;
  }
  reader.finish();
  return settings;
}

function readEngine(tempdb: ObjectReader, settings: PipelineSettings): void {
  const engine = tempdb.value('engine');
  if (engine === undefined) return;
  if (engine !== 'DUCKDB' && engine !== 'H2') {
    tempdb.notes.fail(
      'pipeline.validation.tempdb_engine_unsupported',
      tempdb.at('engine'),
      'Set "engine" to DUCKDB, or leave it out.',
      { allowed: ['DUCKDB', 'H2'] },
    );
    return;
  }
  settings.tempdbEngine = engine;
  if (engine === 'H2') {
    tempdb.notes.warn(
      'pipeline.warning.tempdb_engine_substituted',
      tempdb.at('engine'),
      'H2 runs on DuckDB here: check integer division, SUM and AVG in the tempdb templates.',
    );
  }
}

function readEngineConfig(tempdb: ObjectReader, settings: PipelineSettings, limits: DocumentLimits): void {
  const config = tempdb.value('config');
  if (config === undefined) return;
  if (!isJsonObject(config)) {
    tempdb.notes.malformed(tempdb.at('config'), 'an object');
    return;
  }
  for (const [key, value] of Object.entries(config)) {
    if (value === null) continue;
    const megabytes = key === 'max_memory_mb' ? within(value, limits.stagingMaxMemoryMb) : undefined;
    if (megabytes === undefined) {
      tempdb.notes.fail(
        'pipeline.validation.tempdb_config_invalid',
        `${tempdb.at('config')}${key === 'max_memory_mb' ? '.max_memory_mb' : ''}`,
        `"config" takes only "max_memory_mb", a whole number from 1 to ${limits.stagingMaxMemoryMb}.`,
        { max: limits.stagingMaxMemoryMb },
      );
    } else settings.tempdbMaxMemoryMb = megabytes;
  }
}

/**
 * Reads a node's `settings` (contract 01 §2). A statement may not be allowed more time than its node has; PIPELINE and
 * CALCULATOR nodes have no statement of their own.
 */
export function readNodeSettings(node: ObjectReader, limits: DocumentLimits, type: NodeType): NodeSettings {
  const reader = node.child('settings');
  if (!reader) return {};
  const settings: NodeSettings = {};
  const timeout = reader.value('timeout_seconds');
  const seconds = within(timeout, limits.nodeTimeoutMaxSeconds);
  if (seconds !== undefined) settings.timeoutSeconds = seconds;
  else if (timeout !== undefined) {
    reader.notes.fail(
      'pipeline.validation.node_timeout_invalid',
      reader.at('timeout_seconds'),
      `"timeout_seconds" must be a whole number from 1 to ${limits.nodeTimeoutMaxSeconds}.`,
      { max: limits.nodeTimeoutMaxSeconds },
    );
  }
  if (type === 'PIPELINE' || type === 'CALCULATOR') {
    refuseStatementTimeout(reader, type);
    reader.finish();
    return settings;
  }
  const query = reader.value('query_timeout_seconds');
  const wallClock = seconds ?? limits.nodeTimeoutSeconds;
  const most = Math.min(limits.nodeQueryTimeoutMaxSeconds, wallClock);
  const querySeconds = within(query, most);
  if (querySeconds !== undefined) settings.queryTimeoutSeconds = querySeconds;
  else if (query !== undefined) {
    reader.notes.fail(
      'pipeline.validation.node_query_timeout_invalid',
      reader.at('query_timeout_seconds'),
      `"query_timeout_seconds" must be a whole number from 1 to ${most}: the node itself has ${wallClock} seconds.`,
      { max: most },
    );
  }
  reader.finish();
  return settings;
}

function refuseStatementTimeout(reader: ObjectReader, type: 'PIPELINE' | 'CALCULATOR'): void {
  if (reader.peek('query_timeout_seconds') === undefined) return;
  reader.notes.fail(
    'pipeline.validation.node_query_timeout_invalid',
    reader.at('query_timeout_seconds'),
    type === 'CALCULATOR'
      ? 'A CALCULATOR node runs no statement: drop "query_timeout_seconds".'
      : 'A PIPELINE node runs no statement of its own: bound the node with "timeout_seconds", statements inside the child.',
  );
}

function within(value: Parameters<typeof integerToken>[0], max: number): number | undefined {
  const number = integerToken(value);
  return number !== undefined && number >= 1 && number <= max ? number : undefined;
}
