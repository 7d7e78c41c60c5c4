import { nearest } from '#libs/kernel';
import { CALCULATOR_TOOLS } from './calculators/calculator-declarations.js';
import { DATASOURCE_TOOLS } from './datasources/datasource-declarations.js';
import { DOC_TOOLS } from './docs/doc-declarations.js';
import { ENDPOINT_TOOLS } from './endpoints/endpoint-declarations.js';
import { EXECUTION_TOOLS, TRIAL_TOOLS } from './executions/execution-declarations.js';
import { LAKE_TOOLS } from './lake/lake-declarations.js';
import { CHECK_TOOLS, PIPELINE_TOOLS } from './pipelines/pipeline-declarations.js';
import { SEMANTIC_TOOLS } from './semantics/semantic-declarations.js';
import { TEMPLATE_TOOLS } from './templates/template-declarations.js';
import { listedTool, type ToolDeclaration } from './tool.js';

/** Every tool by its family. The same for every key: rights are judged at the call (06 §12). */
export const TOOL_GROUPS: readonly { title: string; tools: readonly ToolDeclaration[] }[] = [
  group('Pipelines', PIPELINE_TOOLS, CHECK_TOOLS, TRIAL_TOOLS),
  group('Templates', TEMPLATE_TOOLS),
  group('Datasources', DATASOURCE_TOOLS),
  group('Runs', EXECUTION_TOOLS),
  group('Calculators', CALCULATOR_TOOLS),
  group('Endpoints', ENDPOINT_TOOLS),
  group('Lake tables', LAKE_TOOLS),
  group('Learned facts', SEMANTIC_TOOLS),
  group('Documentation', DOC_TOOLS),
];

export const DECLARATIONS: readonly ToolDeclaration[] = TOOL_GROUPS.flatMap(({ tools }) => tools);

/** What `tools/list` answers. */
export const LISTED_TOOLS: readonly Record<string, unknown>[] = DECLARATIONS.map(listedTool);

/** The tool that a misspelt name most likely meant. */
export function nearestTool(name: string): string | undefined {
  return nearest(
    name,
    DECLARATIONS.map((declaration) => declaration.name),
  );
}

function group(title: string, ...families: readonly object[]) {
  return { title, tools: families.flatMap((family) => Object.values(family) as ToolDeclaration[]) };
}
