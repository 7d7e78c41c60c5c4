/**
 * Waits for work that should end soon after its signal aborts. When it does not within the grace, `abandon` is called
 * once and the wait ends with the reason of the abort; the work's own late end goes unheard.
 */
export async function withinGrace<T>(
  work: Promise<T>,
  signal: AbortSignal,
  graceMs: number,
  abandon: () => void,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: () => void = () => undefined;
  const givenUp = new Promise<never>((_, reject) => {
    onAbort = () => {
      timer = setTimeout(() => {
        abandon();
        reject(signal.reason as Error);
      }, graceMs);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, givenUp]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
