import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readJson } from '#libs/kernel';

/** Which build this is: `{version, build_time, commit?}`. */
export class BuildInfo {
  readonly version: string;
  readonly build_time: string;
  readonly commit?: string;

  constructor(environment: NodeJS.ProcessEnv = process.env) {
    const manifest = findManifest(import.meta.dirname);
    this.version = (readJson(readFileSync(manifest, 'utf8')) as unknown as { version: string }).version;
    this.build_time = statSync(import.meta.filename).mtime.toISOString();
    const commit = environment['PENSTOCK_COMMIT'];
    if (commit) this.commit = commit;
  }
}

function findManifest(directory: string): string {
  const candidate = join(directory, 'package.json');
  return existsSync(candidate) ? candidate : findManifest(dirname(directory));
}
