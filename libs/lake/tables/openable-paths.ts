import { dirname } from 'node:path';

const READ_AS_PATTERN = /[*?[]/;

/**
 * What the engine must be allowed to open for these files: the files alone. One whose name reads as a pattern is known
 * to the engine by no path of its own, so its folder is opened instead.
 */
export function openablePaths(files: readonly string[]): { directories: string[]; paths: string[] } {
  const odd = files.filter((file) => READ_AS_PATTERN.test(file));
  return {
    directories: [...new Set(odd.map((file) => `${dirname(file)}/`))],
    paths: files.filter((file) => !READ_AS_PATTERN.test(file)),
  };
}
