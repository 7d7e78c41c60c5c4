/** One segment of a folder path (contract 05 §2). */
const SEGMENT = '[a-z0-9][a-z0-9_.-]{0,63}';

export const MAX_PATH_CHARS = 200;

/**
 * Pattern of a template or pipeline name: 2–10 segments, so a folder is mandatory; at most 200 characters besides.
 * The server check, the GraphQL scalar and the form field are built from this one constant.
 */
export const FOLDER_PATH_PATTERN = `^${SEGMENT}(?:/${SEGMENT}){1,9}$`;

const PATH = new RegExp(FOLDER_PATH_PATTERN);
const PREFIX = new RegExp(`^${SEGMENT}(?:/${SEGMENT}){0,8}$`);
const ONE_SEGMENT = new RegExp(`^${SEGMENT}$`);

/** Why a name is refused: `folder_required` when adding a folder would mend it. */
export type FolderPathDefect = 'folder_required' | 'grammar';

export function folderPathDefect(name: string): FolderPathDefect | undefined {
  if (name.length > MAX_PATH_CHARS) return 'grammar';
  if (PATH.test(name)) return undefined;
  return ONE_SEGMENT.test(name) ? 'folder_required' : 'grammar';
}

/** A browse prefix: the root (empty) or 1–9 segments. An illegal one is an empty level, not an error. */
export function isBrowsePrefix(prefix: string): boolean {
  return prefix === '' || (prefix.length <= MAX_PATH_CHARS && PREFIX.test(prefix));
}

/** The folder a name stands in. */
export function folderOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('/')));
}
