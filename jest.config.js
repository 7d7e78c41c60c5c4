import { readFileSync } from 'node:fs';

const swc = JSON.parse(readFileSync(new URL('./.swcrc', import.meta.url), 'utf8'));
delete swc.exclude;
delete swc.$schema;

/** Runs TypeScript sources as ES modules; `#libs/x` is the front door of a library, as in Node itself. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { ...swc, swcrc: false }] },
  moduleNameMapper: {
    '^#libs/(.*)$': '<rootDir>/libs/$1/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  // Two workers and real servers share two cores: what takes a second by itself may take twenty.
  testTimeout: 90000,
  maxWorkers: 2,
  // DuckDB's reference reaper is a thread that never ends by itself; without this every worker waits for it.
  forceExit: true,
};
