/** An exception and its causes, root cause last (contract 02 §5.5). */
export interface ExceptionRecord {
  class: string;
  message: string;
  frames: string[];
  caused_by?: ExceptionRecord;
}

const LEVELS = 16;
const FRAMES = 40;
const TEXT_CHARS = 2000;

/** `strike` takes bound values out of texts. Frames name functions and files, without the folders of this installation. */
export function exceptionOf(error: unknown, strike: (text: string) => string): ExceptionRecord {
  const levels: ExceptionRecord[] = [];
  let current: unknown = error;
  while (levels.length < LEVELS && current !== undefined && current !== null) {
    const { name, message, stack, cause } = current as Partial<Error>;
    levels.push({
      class: typeof name === 'string' ? name : typeof current,
      message: strike(typeof message === 'string' ? message : String(current)).slice(0, TEXT_CHARS),
      frames: framesOf(stack),
    });
    current = cause;
  }
  for (let level = levels.length - 1; level > 0; level--) levels[level - 1]!.caused_by = levels[level]!;
  return levels[0] ?? { class: 'undefined', message: '', frames: [] };
}

function framesOf(stack: unknown): string[] {
  if (typeof stack !== 'string') return [];
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, FRAMES)
    .map((line) => line.trim().replace(/(?:file:\/\/)?\/[^\s():]*\/(libs|apps|node_modules)\//, '$1/'));
}
