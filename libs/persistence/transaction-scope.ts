import { AsyncLocalStorage } from 'node:async_hooks';

/** `open` turns false at the end, because work started inside and left running inherits the store. */
interface Scope {
  open: boolean;
}

const storage = new AsyncLocalStorage<Scope>();

/** Marks the time in which a metadata transaction is open on the caller's own asynchronous path. */
export async function inTransactionScope<T>(work: () => Promise<T>): Promise<T> {
  const scope: Scope = { open: true };
  try {
    return await storage.run(scope, work);
  } finally {
    scope.open = false;
  }
}

export function isInTransactionScope(): boolean {
  return storage.getStore()?.open === true;
}
