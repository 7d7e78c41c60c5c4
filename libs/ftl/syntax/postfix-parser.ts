import { SyntaxFault } from '../problems.js';
import {
  DANGEROUS_BUILTINS,
  LAMBDA_BUILTINS,
  SQL_BUILTINS,
  SUPPORTED_BUILTINS,
  UNSUPPORTED_BUILTINS,
  snakeCase,
} from './builtin-names.js';
import type { ExpressionReader } from './expression-reader.js';
import type { Expr } from './nodes.js';

/** Everything that binds tighter than a unary operator: `.x [e] (args) ?builtin ?? !default`. */
export function parsePostfix(parser: ExpressionReader, primary: Expr): Expr {
  let target = primary;
  let links = 0;
  for (;;) {
    const next = postfixStep(parser, target);
    if (next === null) return target;
    target = next;
    if (++links + parser.depth > parser.maxNesting) {
      throw new SyntaxFault(`Nested deeper than ${parser.maxNesting} levels.`, target.start, {
        max_nesting: parser.maxNesting,
      });
    }
  }
}

function postfixStep(parser: ExpressionReader, target: Expr): Expr | null {
  const token = parser.lexer.peek();
  if (token.type !== 'op') return null;
  const { start } = target;
  switch (token.text) {
    case '.':
      return dot(parser, target);
    case '[': {
      parser.lexer.next();
      const index = parser.expression();
      return { kind: 'index', target, index, start, end: parser.expect(']').end };
    }
    case '(': {
      parser.lexer.next();
      const { exprs, end } = parser.list(')');
      return { kind: 'call', target, args: exprs, start, end };
    }
    case '??':
      parser.lexer.next();
      return { kind: 'exists', target, start, end: token.end };
    case '!':
      return defaultTo(parser, target);
    case '?':
      return builtin(parser, target);
    default:
      return null;
  }
}

function dot(parser: ExpressionReader, target: Expr): Expr {
  parser.lexer.next();
  const name = parser.lexer.next();
  const text = name.type === 'name' ? name.text : name.type === 'op' ? name.word : undefined;
  if (text === undefined) throw parser.unexpected(name, 'a name after "."');
  return { kind: 'dot', target, name: text, start: target.start, end: name.end };
}

/** `a!b`: the right side is a whole expression; `x! name=…` of a macro call and `x!!` are empty defaults. */
function defaultTo(parser: ExpressionReader, target: Expr): Expr {
  const { end } = parser.lexer.next();
  const next = parser.lexer.peek();
  const again = next.type === 'op' && next.text === '!';
  if (again && !parser.lexer.lookahead(() => (parser.lexer.next(), parser.startsExpression(parser.lexer.peek())))) {
    return { kind: 'default', target, fallback: null, start: target.start, end };
  }
  const namedArgument =
    parser.lexer.mode === 'call' &&
    next.type === 'name' &&
    parser.lexer.lookahead(() => {
      parser.lexer.next();
      const after = parser.lexer.next();
      return after.type === 'op' && after.text === '=';
    });
  if (namedArgument || !parser.startsExpression(next)) {
    return { kind: 'default', target, fallback: null, start: target.start, end };
  }
  const fallback = parser.expression();
  return { kind: 'default', target, fallback, start: target.start, end: fallback.end };
}

function builtin(parser: ExpressionReader, target: Expr): Expr {
  parser.lexer.next();
  const token = parser.lexer.next();
  if (token.type !== 'name') throw parser.unexpected(token, 'a built-in name after "?"');
  const name = knownName(token.text, token.start);
  const base = { kind: 'builtin' as const, target, name, nameStart: token.start, start: target.start };
  if (parser.at('(')) {
    parser.lexer.next();
    const { args, end } = builtinArguments(parser, name);
    return { ...base, args, keyed: false, end };
  }
  if (SQL_BUILTINS.has(name) && name === 'sql_choice') {
    throw new SyntaxFault('?sql_choice needs the listed literals as arguments.', token.start);
  }
  if (name === 'string' && parser.at('.')) {
    parser.lexer.next();
    const key = parser.lexer.next();
    if (key.type !== 'name') throw parser.unexpected(key, 'a format name');
    const arg: Expr = { kind: 'string', value: key.text, start: key.start, end: key.end };
    return { ...base, args: [arg], keyed: true, end: key.end };
  }
  if ((name === 'date' || name === 'time' || name === 'datetime') && parser.at('.')) {
    parser.lexer.next();
    const key = parser.lexer.next();
    if (key.type !== 'name') throw parser.unexpected(key, 'a format name');
    const arg: Expr = { kind: 'string', value: key.text, start: key.start, end: key.end };
    return { ...base, args: [arg], keyed: true, end: key.end };
  }
  if (name === 'string' && parser.at('[')) {
    parser.lexer.next();
    const arg = parser.expression();
    return { ...base, args: [arg], keyed: true, end: parser.expect(']').end };
  }
  return { ...base, args: null, keyed: false, end: token.end };
}

function knownName(spelling: string, start: number): string {
  const name = snakeCase(spelling);
  if (SUPPORTED_BUILTINS.has(name) || DANGEROUS_BUILTINS.has(name)) return name;
  if (UNSUPPORTED_BUILTINS.has(name)) {
    throw new SyntaxFault(`The built-in ?${spelling} is not supported.`, start, {
      builtin: spelling,
      unsupported: true,
    });
  }
  throw new SyntaxFault(`Unknown built-in ?${spelling.slice(0, 64)}.`, start, {
    builtin: spelling.slice(0, 64),
    known: [...SUPPORTED_BUILTINS].sort(),
  });
}

function builtinArguments(parser: ExpressionReader, name: string): { args: Expr[]; end: number } {
  const args: Expr[] = [];
  while (!parser.at(')')) {
    const lambda = LAMBDA_BUILTINS.has(name) ? lambdaArgument(parser) : null;
    args.push(lambda ?? parser.expression());
    if (!parser.accept(',') && !parser.startsExpression(parser.lexer.peek())) break;
  }
  const { end } = parser.expect(')');
  if (SQL_BUILTINS.has(name)) requireLiterals(name, args);
  return { args, end };
}

function requireLiterals(name: string, args: Expr[]): void {
  const wrong = args.find((arg) => arg.kind !== 'string');
  if (wrong) throw new SyntaxFault(`Arguments of ?${name} must be string literals.`, wrong.start);
}

/** `x -> e` or `(x) -> e`, or null when no lambda starts here. */
function lambdaArgument(parser: ExpressionReader): Expr | null {
  const { lexer } = parser;
  const start = lexer.peek().start;
  const wrapped = parser.at('(');
  const found = lexer.lookahead(() => {
    if (wrapped) lexer.next();
    const param = lexer.next();
    if (param.type !== 'name') return false;
    if (wrapped && !parser.accept(')')) return false;
    return parser.at('->');
  });
  if (!found) return null;
  if (wrapped) lexer.next();
  const param = lexer.next().text;
  if (wrapped) lexer.next();
  lexer.next();
  const body = parser.expression();
  return { kind: 'lambda', param, body, start, end: body.end };
}
