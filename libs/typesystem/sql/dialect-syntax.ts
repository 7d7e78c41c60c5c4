import type { Dialect } from '../canonical-type.js';

/** What the lexer must know of a dialect (contract 01 §4.3). */
export interface DialectSyntax {
  /** `'…'` and `"…"` strings take backslash escapes. */
  backslashStrings: boolean;
  /** `E'…'` takes backslash escapes. */
  escapeStrings: boolean;
  /** `"…"` is a string, not an identifier. */
  doubleQuoteIsString: boolean;
  backtickIdentifiers: boolean;
  /** `[…]`: `]]` stands for `]` in MSSQL; SQLite ends at the first `]`. */
  bracketIdentifiers: 'doubled' | 'plain' | null;
  /** `$tag$…$tag$`, or only `$$…$$`. */
  dollarStrings: 'tagged' | 'bare' | null;
  /** Oracle's `q'[…]'` and `nq'…'`. */
  alternativeQuotes: boolean;
  nestedComments: boolean;
  /** `#` opens a line comment. */
  hashComments: boolean;
  /** `//` opens a line comment. */
  slashComments: boolean;
  /** `--` opens a comment only before a blank, a control character or the end. */
  dashNeedsBlank: boolean;
  /** A carriage return alone ends a line comment. */
  returnEndsComment: boolean;
  /** The server runs what stands in `/*! …` and `/*M! …`. */
  executableComments: boolean;
  /** `#` may be part of a word. */
  hashInWords: boolean;
  /** `U&'…'` and `U&"…"`. */
  unicodeEscapes: boolean;
  /** No-break and other Unicode spaces separate words; elsewhere they are letters. */
  unicodeBlanks: boolean;
  native: NativePlaceholders;
}

export interface NativePlaceholders {
  /** `?`, with a number behind it or not. */
  question: boolean;
  /** `$1`. */
  dollarNumber: boolean;
  /** `$name`. */
  dollarName: boolean;
  /** `@name`: every one, or only those of the binder. */
  at: 'all' | 'reserved' | null;
  /** `:1` and `:Name` that are not binds of ours. */
  colon: boolean;
}

const STANDARD: DialectSyntax = {
  backslashStrings: false,
  escapeStrings: false,
  doubleQuoteIsString: false,
  backtickIdentifiers: false,
  bracketIdentifiers: null,
  dollarStrings: null,
  alternativeQuotes: false,
  nestedComments: false,
  hashComments: false,
  slashComments: false,
  dashNeedsBlank: false,
  returnEndsComment: false,
  executableComments: false,
  hashInWords: false,
  unicodeEscapes: false,
  unicodeBlanks: false,
  native: { question: false, dollarNumber: false, dollarName: false, at: null, colon: false },
};

const POSTGRES: DialectSyntax = {
  ...STANDARD,
  escapeStrings: true,
  dollarStrings: 'tagged',
  nestedComments: true,
  returnEndsComment: true,
  unicodeEscapes: true,
  native: { ...STANDARD.native, dollarNumber: true },
};

const DUCKDB: DialectSyntax = {
  ...POSTGRES,
  unicodeBlanks: true,
  native: { question: true, dollarNumber: true, dollarName: true, at: null, colon: false },
};

/** One row per dialect. */
export const SYNTAX: Readonly<Record<Dialect, DialectSyntax>> = {
  POSTGRES,
  DUCKDB,
  LAKE: DUCKDB,
  H2: {
    ...STANDARD,
    dollarStrings: 'bare',
    nestedComments: true,
    slashComments: true,
    returnEndsComment: true,
    unicodeEscapes: true,
    unicodeBlanks: true,
    native: { ...STANDARD.native, question: true, dollarNumber: true },
  },
  MYSQL: {
    ...STANDARD,
    backslashStrings: true,
    doubleQuoteIsString: true,
    backtickIdentifiers: true,
    hashComments: true,
    dashNeedsBlank: true,
    executableComments: true,
    native: { ...STANDARD.native, question: true },
  },
  SQLITE: {
    ...STANDARD,
    backtickIdentifiers: true,
    bracketIdentifiers: 'plain',
    native: { question: true, dollarNumber: true, dollarName: true, at: 'all', colon: true },
  },
  MSSQL: {
    ...STANDARD,
    bracketIdentifiers: 'doubled',
    nestedComments: true,
    returnEndsComment: true,
    hashInWords: true,
    unicodeBlanks: true,
    native: { ...STANDARD.native, at: 'reserved' },
  },
  ORACLE: {
    ...STANDARD,
    alternativeQuotes: true,
    hashInWords: true,
    unicodeBlanks: true,
    native: { ...STANDARD.native, colon: true },
  },
};
