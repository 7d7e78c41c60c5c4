/**
 * The drawing of the house: imports run downwards only.
 * doors (apps) → families → (persistence, transient) → pure libraries → kernel.
 */
const PURE = 'typesystem|ftl|lifecycle|calculators|client';
const STORES = 'persistence|transient';

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      comment: "Two files of one library may name each other's types; nothing may need the other to load.",
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-circles-between-libraries',
      severity: 'error',
      from: { path: '^libs/([^/]+)/' },
      to: { path: '^libs/', pathNot: '^libs/$1/', circular: true },
    },
    {
      name: 'kernel-imports-nothing-of-ours',
      severity: 'error',
      from: { path: '^libs/kernel/' },
      to: { path: '^(libs/(?!kernel/)|apps/)' },
    },
    {
      name: 'pure-libraries-import-only-the-pure-kernel',
      comment: 'ftl may import typesystem; nothing else. The kernel at large knows Node.',
      severity: 'error',
      from: { path: `^libs/(${PURE})/`, pathNot: '\\.spec\\.ts$' },
      to: { path: '^(libs|apps)/', pathNot: '^libs/(kernel/pure/|$1/)|^libs/typesystem/' },
    },
    {
      name: 'pure-libraries-run-in-a-browser',
      severity: 'error',
      from: { path: `^libs/(${PURE})/`, pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'stores-know-no-family',
      severity: 'error',
      from: { path: `^libs/(${STORES})/`, pathNot: '\\.spec\\.ts$' },
      to: { path: '^(libs|apps)/', pathNot: `^libs/(kernel|${STORES}|${PURE})/` },
    },
    {
      name: 'families-do-not-know-doors',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^apps/' },
    },
    {
      name: 'another-library-only-through-its-front-door',
      severity: 'error',
      from: { path: '^libs/([^/]+)/', pathNot: '\\.fixture\\.ts$' },
      to: { path: '^libs/([^/]+)/', pathNot: '^libs/$1/|^libs/[^/]+/index\\.ts$|^libs/kernel/pure/index\\.ts$' },
    },
    {
      name: 'apps-use-front-doors',
      severity: 'error',
      from: { path: '^apps/' },
      to: { path: '^libs/', pathNot: '^libs/[^/]+/index\\.ts$' },
    },
    {
      name: 'doors-never-touch-persistence',
      comment: 'Only the composition root (app.module) and main open the database.',
      severity: 'error',
      from: { path: '^apps/server/(graphql|rest|sse|endpoints|mcp|health)/' },
      to: { path: '^libs/persistence/|node_modules/(typeorm|pg)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|node_modules)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js'],
    },
  },
};
