import { choice, integer, text } from '../definition.js';
import { ABSOLUTE_PATH } from '../forms.js';

const DAY = 86_400;

export const executorKeys = {
  'datapipelines.executor.max-parallel-nodes': integer({
    default: 4,
    min: 1,
    max: 64,
    about: 'Nodes of one execution that run at the same time.',
  }),
  'datapipelines.executor.max-concurrent-executions-per-user': integer({
    default: 10,
    min: 1,
    max: 10_000,
    about: 'Executions a person may have running, over all instances.',
  }),
  'datapipelines.executor.max-concurrent-executions-per-instance': integer({
    default: 100,
    min: 1,
    max: 10_000,
    about: 'Executions one instance runs at the same time.',
    aliases: { keys: ['datapipelines.executor.max-concurrent-executions-global'] },
  }),
  'datapipelines.executor.execution-timeout-seconds': integer({
    default: 600,
    min: 1,
    max: DAY,
    about: 'Seconds a whole execution may take.',
  }),
  'datapipelines.executor.node-timeout-seconds': integer({
    default: 300,
    min: 1,
    max: DAY,
    about: 'Seconds a node may take, all its phases together, unless it says otherwise.',
  }),
  'datapipelines.executor.node-timeout-max-seconds': integer({
    default: 900,
    min: 1,
    max: DAY,
    about: 'Most seconds a node may ask for.',
  }),
  'datapipelines.executor.node-query-timeout-seconds': integer({
    default: 60,
    min: 1,
    max: DAY,
    about: 'Seconds the database may take for a statement, unless node or datasource says otherwise.',
  }),
  'datapipelines.executor.node-query-timeout-max-seconds': integer({
    default: 900,
    min: 1,
    max: DAY,
    about: 'Most seconds a node or pipeline may ask for one statement.',
  }),
  'datapipelines.executor.cancel-grace-seconds': integer({
    default: 5,
    min: 1,
    max: 300,
    about: 'Seconds a cancelled statement has to stop before its connection is destroyed.',
  }),
  'datapipelines.executor.cancel-poll-seconds': integer({
    default: 5,
    min: 1,
    max: 300,
    about: 'Seconds between looks for cancellations asked on another instance, should the notice be lost.',
  }),
  'datapipelines.executor.source-fetch-size': integer({
    default: 1000,
    min: 1,
    max: 10_000,
    about: 'Rows fetched from a datasource at once.',
  }),
  'datapipelines.executor.writeback-batch-rows': integer({
    default: 1000,
    min: 1,
    max: 100_000,
    about: 'Rows of one INSERT into a target datasource, cut to what its dialect can bind.',
  }),
  'datapipelines.executor.heartbeat-seconds': integer({
    default: 15,
    min: 1,
    max: 300,
    about: 'Seconds between signs of life of running executions; three missed ones count as a lost instance.',
  }),
  'datapipelines.executor.progress-write-interval-seconds': integer({
    default: 5,
    min: 1,
    max: 300,
    about: 'Least seconds between progress writes of an execution while a node runs.',
  }),
  'datapipelines.executor.progress-sample-interval-seconds': integer({
    default: 1,
    min: 1,
    max: 300,
    about: 'Least seconds between two progress events of a node that stays in its state.',
  }),
  'datapipelines.executor.host': choice(['inline', 'threads'], {
    default: 'inline',
    about:
      'Where executions run: `inline` beside everything else, or in worker `threads` of their own, so that one that runs out of memory takes only its own executions with it. With `threads` DuckDB datasources can only be read.',
  }),
  'datapipelines.executor.host-threads': integer({
    default: { says: 'the number of processors less one, at least 1', from: (facts) => Math.max(1, facts.cores - 1) },
    min: 1,
    max: 64,
    about: 'Threads for executions, with `host=threads`. Each has connections of its own to the metadata database.',
  }),
  'datapipelines.executor.host-thread-heap-mb': integer({
    default: 0,
    min: 0,
    max: 1_048_576,
    about: 'JavaScript heap in MB of one thread for executions; 0 = as much as the server itself may have.',
  }),
};

export const stagingKeys = {
  'datapipelines.staging.max-memory-mb': integer({
    default: 1024,
    min: 16,
    max: 1_048_576,
    about: 'Memory in MB of one execution’s staging engine; beyond it rows spill to disk.',
    aliases: { keys: ['datapipelines.staging.h2.max-memory-mb'] },
  }),
  'datapipelines.staging.total-memory-mb': integer({
    default: 0,
    min: 0,
    max: 16_777_216,
    about:
      'Memory in MB of all staging engines of this process together; 0 = half of what the machine or container has.',
  }),
  'datapipelines.staging.overrun-memory-mb': integer({
    default: 512,
    min: 64,
    max: 16_777_216,
    about:
      'Memory in MB this process may take for statements on staged tables beyond what their engines were lent; lists and texts a statement builds count here. Past it the statement is stopped.',
  }),
  'datapipelines.staging.max-spill-mb': integer({
    default: 8192,
    min: 0,
    max: 16_777_216,
    about: 'Disk in MB one execution may spill to; 0 = none.',
  }),
  'datapipelines.staging.spill-directory': text({
    default: { says: 'the system’s temporary directory', from: (facts) => facts.temporaryDirectory },
    form: ABSOLUTE_PATH,
    about: 'Where staging engines spill.',
  }),
  'datapipelines.staging.threads': integer({
    default: { says: 'the number of processors, at most 4', from: (facts) => Math.max(1, Math.min(4, facts.cores)) },
    min: 1,
    max: 256,
    about: 'Threads of one staging engine.',
  }),
  'datapipelines.staging.query-timeout-seconds': integer({
    default: 60,
    min: 1,
    max: DAY,
    about: 'Seconds a statement on staged tables may take.',
    aliases: { keys: ['datapipelines.staging.h2.query-timeout-seconds'] },
  }),
  'datapipelines.staging.max-connections': integer({
    default: 4,
    min: 1,
    max: 64,
    about: 'Operations that use one staging engine at the same time.',
  }),
  'datapipelines.staging.max-concurrent-calls': integer({
    default: 12,
    min: 1,
    max: 1016,
    about:
      'Native engine calls in flight in this process. Each holds a thread of the pool (UV_THREADPOOL_SIZE, 24), of which 8 must stay free.',
  }),
};

export const recordKeys = {
  'datapipelines.executions.event-retention-days': integer({
    default: 7,
    min: 1,
    max: 36_500,
    about: 'Days the events of an execution are kept; its row stays.',
  }),
  'datapipelines.executions.stale-timeout-minutes': integer({
    default: 60,
    min: 1,
    max: 525_600,
    about: 'Minutes after which a running execution without any sign of life is given up.',
  }),
  'datapipelines.executions.error-detail': choice(['full', 'structured'], {
    default: 'full',
    about: '`structured` leaves SQL text and driver exceptions out of failure records.',
  }),
};
