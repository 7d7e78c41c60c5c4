/** Most characters of rows that stand inside an answer; the result cursor has the rest (06 §12). */
export const INLINE_CHARS = 1024 * 1024;
