export * from './version-state.js';
export * from './decide.js';
export * from './precondition.js';
export * from './refusal.js';
export * from './statements.js';
export * from './folder-path.js';
export * from './browse.js';
export * from './release-mark.js';
