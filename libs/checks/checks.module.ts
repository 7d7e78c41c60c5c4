import { Module } from '@nestjs/common';
import { DatasourcesModule } from '#libs/datasources';
import { PipelinesModule } from '#libs/pipelines';
import { CheckRunRepository } from './check-run.repository.js';
import { CheckHistory } from './check-history.js';
import { CheckRunner } from './check-runner.js';
import { CheckService } from './check.service.js';
import { ReleaseCheckGate } from './release-check-gate.js';

/** Release checks. Needs `Configuration` and `Database` of the infrastructure. */
@Module({
  imports: [DatasourcesModule, PipelinesModule],
  providers: [CheckRunRepository, CheckRunner, CheckService, CheckHistory, ReleaseCheckGate],
  exports: [CheckService, CheckHistory, ReleaseCheckGate],
})
export class ChecksModule {}
