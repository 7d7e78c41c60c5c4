const REPEAT_MS = 250;
const REPEATS = 8;

/**
 * Calls `interrupt` when the signal aborts, and again every 250 ms for two seconds: an interrupt that comes before the
 * engine has begun the statement is lost (contract 02 §5.2). Returns what ends this, to be called when the call is back.
 */
export function interruptOnAbort(interrupt: () => void, signal: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined;
  let left = REPEATS;
  const fire = () => {
    interrupt();
    if (left-- > 0) timer = setTimeout(fire, REPEAT_MS);
  };
  signal.addEventListener('abort', fire, { once: true });
  return () => {
    signal.removeEventListener('abort', fire);
    clearTimeout(timer);
  };
}
