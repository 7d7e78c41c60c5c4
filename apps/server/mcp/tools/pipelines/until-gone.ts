/** What the work gives, or undefined when the signal aborts first; the work goes on by itself. */
export async function untilGone<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  let leave: () => void = () => undefined;
  const gone = new Promise<undefined>((resolve) => {
    leave = () => resolve(undefined);
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([work, gone]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
