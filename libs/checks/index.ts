export { MAX_CHECK_ROWS, rowsToRead, type Expectation } from './expectation.js';
export { judge, type Judgement, type Observation, type Observed } from './judge.js';
