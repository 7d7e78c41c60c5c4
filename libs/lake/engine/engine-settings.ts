import { literal } from '../tables/table-scan.js';

export interface EngineLimits {
  memoryMb: number;
  threads: number;
  /** A folder of this engine alone: the engine lets its queries read what lies there. */
  temporaryDirectory: string;
}

/** Opening a file makes the engine look for an extension that reads it: it must not fetch or load one. */
export const FROM_THE_START = { autoinstall_known_extensions: 'false', autoload_known_extensions: 'false' };

/** Set before any table is looked at. */
export function firstSettings({ memoryMb, threads, temporaryDirectory }: EngineLimits): string[] {
  return [
    `memory_limit = '${memoryMb}MB'`,
    `threads = ${threads}`,
    `temp_directory = ${literal(temporaryDirectory)}`,
    `TimeZone = 'UTC'`,
    'allow_unsigned_extensions = false',
    'allow_community_extensions = false',
    'autoinstall_known_extensions = false',
    'autoload_known_extensions = false',
    'allow_persistent_secrets = false',
  ];
}

/** Set once the views stand: nothing outside the roots can be opened any more, and no statement changes that. */
export function lastSettings(directories: Iterable<string>, paths: Iterable<string>): string[] {
  return [
    `allowed_directories = [${[...new Set(directories)].map(literal).join(', ')}]`,
    `allowed_paths = [${[...new Set(paths)].map(literal).join(', ')}]`,
    'enable_external_access = false',
    'lock_configuration = true',
  ];
}
