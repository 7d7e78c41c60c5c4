import { nearest } from '#libs/kernel';
import { CHECK_TOOLS, PIPELINE_TOOLS } from './pipelines/pipeline-declarations.js';
import { listedTool, type ToolDeclaration } from './tool.js';

/** Every tool, in the order of contract 06 §12. The same for every key: rights are judged at the call. */
export const DECLARATIONS: readonly ToolDeclaration[] = [
  ...Object.values(PIPELINE_TOOLS),
  ...Object.values(CHECK_TOOLS),
] as unknown as ToolDeclaration[];

/** What `tools/list` answers. */
export const LISTED_TOOLS: readonly Record<string, unknown>[] = DECLARATIONS.map(listedTool);

/** The tool that a misspelt name most likely meant. */
export function nearestTool(name: string): string | undefined {
  return nearest(
    name,
    DECLARATIONS.map((declaration) => declaration.name),
  );
}
