const MAX_LENGTH = 1024;

/**
 * Where a browser goes after signing in: a path of ours, or `/`. Printable ASCII without `\`, one leading slash: browsers
 * drop tabs and newlines and read `/\` as `//`, which names another host (contract 04 §3).
 */
export function returnPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > MAX_LENGTH) return '/';
  return /^\/(?!\/)[\x21-\x7e]*$/.test(wanted) && !wanted.includes('\\') ? wanted : '/';
}
