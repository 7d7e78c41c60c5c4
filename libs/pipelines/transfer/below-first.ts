/** Each item after those it rests on; of a circle, which no rule lets in, each member stands once. */
export function belowFirst<T>(items: Iterable<T>, below: (item: T) => readonly T[]): T[] {
  const ordered = new Set<T>();
  const entered = new Set<T>();
  const open = [...items].reverse();
  while (open.length > 0) {
    const item = open.at(-1) as T;
    const next = entered.has(item) ? [] : below(item).filter((each) => !entered.has(each));
    entered.add(item);
    if (next.length > 0) {
      open.push(...next);
      continue;
    }
    ordered.add(item);
    open.pop();
  }
  return [...ordered];
}
