import type { Configuration } from '#libs/kernel';

/** How many entries a list gives: the operator's bounds, and what is beyond them is clamped (03 §2). */
export function pageLimit(configuration: Configuration): (asked: number | undefined) => number {
  const usual = configuration.get('datapipelines.web.page-default-limit');
  const most = configuration.get('datapipelines.web.page-max-limit');
  return (asked) => Math.min(Math.max(asked ?? usual, 1), most);
}
