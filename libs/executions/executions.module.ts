import { Module } from '@nestjs/common';
import { register } from 'prom-client';
import { AuditModule } from '#libs/audit';
import { DatasourcesModule } from '#libs/datasources';
import { PipelinesModule } from '#libs/pipelines';
import { TemplatesModule } from '#libs/templates';
import { DataReadyRows } from './events/data-ready-rows.js';
import { ExecutionEvents } from './events/execution-events.js';
import { ExecutionMetrics } from './execution-metrics.js';
import { ChildLauncher } from './family/child-launcher.js';
import { Drain } from './instance/drain.js';
import { ExecutionInstance } from './instance/execution-instance.js';
import { InstanceRoster } from './instance/instance-roster.js';
import { ExecutionJobs } from './jobs/execution-jobs.js';
import { Retention } from './jobs/retention.js';
import { Sweep } from './jobs/sweep.js';
import { Idempotency } from './launch/idempotency.js';
import { McpLaunches } from './launch/mcp-launches.js';
import { Launcher } from './launch/launcher.js';
import { ExecutionRepository } from './reading/execution.repository.js';
import { ExecutionBatchReading } from './reading/execution-batch-reading.js';
import { ExecutionResults } from './reading/execution-results.js';
import { ExecutionService } from './reading/execution.service.js';
import { ResultShapes } from './reading/result-shapes.js';
import { VisibleExecutions } from './reading/visible-executions.js';
import { EventTable } from './records/event-table.js';
import { ExecutionInserts } from './records/execution-inserts.js';
import { FinishedRuns } from './records/finished-runs.js';
import { PurgeExecutions } from './records/purge-executions.js';
import { ResultReader } from './results/result-reader.js';
import { NodeTrial } from './trial/node-trial.js';
import { TrialWrite } from './trial/trial-write.js';
import { StagingHealth } from './staging/staging-health.js';

/** One instance of everything: the process owns one engine, however many doors use it. */
@Module({
  imports: [AuditModule, DatasourcesModule, TemplatesModule, PipelinesModule],
  providers: [
    { provide: ExecutionMetrics, useFactory: () => new ExecutionMetrics(register) },
    ChildLauncher,
    DataReadyRows,
    Drain,
    EventTable,
    ExecutionBatchReading,
    ExecutionEvents,
    ExecutionInserts,
    ExecutionInstance,
    InstanceRoster,
    ExecutionJobs,
    ExecutionRepository,
    ExecutionResults,
    ExecutionService,
    FinishedRuns,
    Idempotency,
    Launcher,
    McpLaunches,
    NodeTrial,
    PurgeExecutions,
    ResultReader,
    ResultShapes,
    Retention,
    StagingHealth,
    Sweep,
    TrialWrite,
    VisibleExecutions,
  ],
  exports: [
    Drain,
    ExecutionInstance,
    ExecutionBatchReading,
    ExecutionEvents,
    ExecutionJobs,
    ExecutionResults,
    ExecutionService,
    InstanceRoster,
    Launcher,
    McpLaunches,
    NodeTrial,
    PurgeExecutions,
    ResultShapes,
    StagingHealth,
  ],
})
export class ExecutionsModule {}
