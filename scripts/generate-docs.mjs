// Writes the documents that are generated from tables in the code. Run after a build: node scripts/generate-docs.mjs
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);

let kernel;
let graphql;
let tools;
let openapi;
let calculators;
let pipelines;
try {
  kernel = await import(new URL('dist/libs/kernel/index.js', root));
  calculators = await import(new URL('dist/libs/calculators/index.js', root));
  pipelines = await import(new URL('dist/libs/pipelines/index.js', root));
  graphql = await import(new URL('dist/apps/server/graphql/schema/render-schema.js', root));
  tools = await import(new URL('dist/apps/server/mcp/docs/tool-reference.js', root));
  openapi = await import(new URL('dist/apps/server/openapi/render-openapi.js', root));
} catch (cause) {
  if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause;
  console.error('Nothing is built yet. Run: npm run build');
  process.exit(1);
}

const documents = {
  'docs/generated/errors.md': kernel.renderErrorCatalogue(),
  'docs/generated/calculators.md': calculators.renderCalculatorReference(),
  'docs/configuration.md': kernel.renderConfigurationReference(),
  '.env.example': kernel.renderEnvExample(),
  'docs/generated/mcp-tools.md': tools.renderToolReference(),
  'docs/generated/schema.graphql': await graphql.renderSchema(),
  'docs/generated/pipeline.schema.json': `${JSON.stringify(pipelines.pipelineSchema(), null, 2)}\n`,
  'docs/generated/openapi.json': `${JSON.stringify(await openapi.renderOpenapi(), null, 2)}\n`,
};

for (const [name, text] of Object.entries(documents)) {
  const path = fileURLToPath(new URL(name, root));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  console.log(`wrote ${relative(process.cwd(), path)}, ${text.split('\n').length - 1} lines`);
}
console.log(
  'Generated from the tables in libs/kernel, libs/calculators and libs/pipelines and the classes of apps/server; commit these files with the change that moved them.',
);
