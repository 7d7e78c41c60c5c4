type Given<T> = { [K in keyof T]: Exclude<T[K], null> };

/** A filter without what is null: a member that is not asked for is one that is not there. */
export function filterOf<T extends object>(filter: T | null | undefined): Partial<Given<T>> {
  return Object.fromEntries(Object.entries(filter ?? {}).filter(([, value]) => value != null)) as Partial<Given<T>>;
}
