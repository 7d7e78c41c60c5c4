import { TEMPDB } from './pipeline-document.js';

export const IDENTIFIER = /^[a-z0-9_]{1,63}$/;

/** Node ids, staged and written tables, check ids (contract 01 §1.1). */
export function isIdentifier(text: string): boolean {
  return text.length <= 63 && IDENTIFIER.test(text);
}

/** `tempdb` and everything between double underscores belongs to the engine. */
export function isReservedName(text: string): boolean {
  return text === TEMPDB || (text.length > 3 && text.startsWith('__') && text.endsWith('__'));
}
