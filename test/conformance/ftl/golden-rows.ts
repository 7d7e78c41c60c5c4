import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One template of the golden files and what becomes of it under the shared Context (`shared-context.ts`). */
export interface GoldenRow {
  template: string;
  /** What it prints. */
  printed?: string;
  /** Or where and why it fails: `line:column message`. */
  fails?: string;
  /** What Apache FreeMarker does instead, where the product differs on purpose: its output, or null for a failure. */
  reference?: string | null;
  /** Why it differs; goes with `reference`. */
  why?: string;
  /** First version of the engine that knows the construct; an older one is not asked. */
  since?: string;
}

export interface GoldenFile {
  name: string;
  path: string;
  rows: GoldenRow[];
}

const FOLDER = join(import.meta.dirname, 'golden');

/** The golden files in the order of their names. */
export function goldenFiles(): GoldenFile[] {
  const names = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
  return names.sort().map((file) => {
    const path = join(FOLDER, file);
    return { name: file.replace(/\.json$/, ''), path, rows: JSON.parse(readFileSync(path, 'utf8')) as GoldenRow[] };
  });
}
