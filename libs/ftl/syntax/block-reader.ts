import type { SyntaxFault } from '../problems.js';
import type { ExpressionReader } from './expression-reader.js';
import type { Lexer } from './lexer.js';
import type { Block, Span } from './nodes.js';
import type { Markup } from './tag-scanner.js';

/** Where the parser stands: decides which of `break`, `items`, `return`, `nested` are legal. */
export interface Surroundings {
  inLoop: boolean;
  breakable: boolean;
  /** Inside a `<#list xs>` that waits for its `<#items>`. */
  awaitsItems: boolean;
  macro: 'macro' | 'function' | null;
}

/** What the parsers of single directives need of the template parser. */
export interface BlockReader {
  readonly expr: ExpressionReader;
  readonly lexer: Lexer;
  surroundings: Surroundings;
  /** Nodes up to a tag that belongs to an enclosing directive. */
  block(): Block;
  /** A block inside changed surroundings. */
  blockIn(change: Partial<Surroundings>): Block;
  /** The tag the last block stopped at; null at the end of the text. */
  stop(): Markup | null;
  /** A block and its `</#name>`. */
  closedBlock(name: string, start: number, change?: Partial<Surroundings>): Block;
  unclosed(name: string, start: number, stop: Markup | null): SyntaxFault;
  /** Starts reading the inside of a tag. */
  enter(after: number, mode?: 'tag' | 'call'): void;
  /** Reads the `>` or `/>` of the tag; answers which. */
  tagEnd(): string;
  /** Reads the `>` of a tag that opens or closes a block: `/>` does neither. */
  blockEnd(): void;
  /** A tag without content: `<#else>`, `<#break/>`. */
  bareTag(after: number): void;
  /** A tag without content that opens or closes a block: `<#attempt>`, `</#if>`. */
  bareBlockTag(after: number): void;
  /** The name an assignment or a definition gives: an identifier or a string literal. */
  name(): string;
  /** The name of a loop variable or a parameter: an identifier. */
  identifier(): string;
  keyword(word: string): void;
  span(start: number): Span;
  /** `<#items>` read since the innermost waiting list began. */
  items: number;
}
