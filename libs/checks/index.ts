export { MAX_CHECK_ROWS, rowsToRead, type Expectation } from './expectation.js';
export { judge, type Judgement, type Observation, type Observed } from './judge.js';
export { CheckService, type CheckRunView, type CheckView } from './check.service.js';
export { CheckHistory, checkKey, type PastCheckRun } from './check-history.js';
export type { CheckRef } from './check-run.repository.js';
export { ReleaseCheckGate } from './release-check-gate.js';
export { ChecksModule } from './checks.module.js';
