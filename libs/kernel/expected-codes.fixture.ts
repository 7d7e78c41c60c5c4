import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../..');
/** A helper that judges by its name: `refused(…)`, `expectConflict(…)`. */
const JUDGE = /^(expect|refus|assert)/;

/** Where texts stand in sources: text → the files that hold it. */
export type Places = ReadonlyMap<string, ReadonlySet<string>>;

function sources(wanted: (file: string) => boolean): { file: string; tree: ts.SourceFile }[] {
  return ['libs', 'apps', 'test']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
    )
    .filter((file) => file.endsWith('.ts') && wanted(file))
    .map((file) => ({
      file,
      tree: ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true),
    }));
}

const isTest = (file: string): boolean => /(\.spec|\.fixture|-vectors|-cases)\.ts$/.test(file);

/**
 * What specs expect: texts inside an `expect(…)` chain, in the table of an `it.each` or of a loop around tests, in the
 * arguments of a helper that judges, and in variables that one of these reads. A text that merely stands in a spec, in
 * its title or among what it sends, is expected by nobody.
 */
export function expectedTexts(): Places {
  const places = new Map<string, Set<string>>();
  for (const { file, tree } of sources((one) => isTest(one) && !one.endsWith('raised-codes.spec.ts'))) {
    for (const text of textsExpectedIn(tree)) places.set(text, (places.get(text) ?? new Set()).add(file));
  }
  return places;
}

/** What one source expects, for the spec of this rule. */
export function expectedIn(source: string): string[] {
  return textsExpectedIn(ts.createSourceFile('one.spec.ts', source, ts.ScriptTarget.Latest, true));
}

function textsExpectedIn(tree: ts.SourceFile): string[] {
  const isExpected = expectationsOf(tree);
  const texts = new Set<string>();
  each(tree, (node) => {
    const text = textOf(node);
    if (text !== undefined && isExpected(node)) texts.add(text);
  });
  return [...texts];
}

/** Texts of the product's own sources but those of the catalogue: whole ones, and patterns such as `${family}.version.pinned`. */
export function productTexts(): { has(code: string): boolean } {
  const whole = new Set<string>();
  const patterns: RegExp[] = [];
  for (const { tree } of sources(
    (file) => !file.startsWith('test/') && !isTest(file) && !/kernel\/catalogue\//.test(file),
  )) {
    each(tree, (node) => {
      if (ts.isStringLiteralLike(node)) whole.add(node.text);
      else if (ts.isTemplateExpression(node)) {
        const fixed = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
        // One that says no word of a code would match them all.
        if (fixed.some((part) => /[a-z_]{3,}/.test(part) && /\./.test(part)) && !/\s/.test(fixed.join(''))) {
          patterns.push(
            new RegExp(`^${fixed.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[a-z_.]+')}$`),
          );
        }
      }
    });
  }
  return { has: (code) => whole.has(code) || patterns.some((pattern) => pattern.test(code)) };
}

function each(tree: ts.Node, look: (node: ts.Node) => void): void {
  const visit = (node: ts.Node): void => {
    look(node);
    ts.forEachChild(node, visit);
  };
  visit(tree);
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  // Tables by code have the last word of each as a key.
  return ts.isPropertyAssignment(node) && ts.isIdentifier(node.name) ? node.name.text : undefined;
}

/** Tells of a node of this file whether it belongs to an expectation. */
function expectationsOf(tree: ts.SourceFile): (node: ts.Node) => boolean {
  const judges = new Set<string>();
  each(tree, (node) => {
    const name = judgeOf(node);
    if (name !== undefined) judges.add(name);
  });
  const isJudged = (node: ts.Node): boolean =>
    (ts.isCallExpression(node) && isExpectation(node, judges)) || isLoopOverTests(node);
  const read = new Set<string>();
  each(tree, (node) => {
    if (!isJudged(node)) return;
    const parts = ts.isCallExpression(node) ? node.arguments : [(node as ts.ForOfStatement).expression];
    for (const part of parts) each(part, (one) => void (ts.isIdentifier(one) && read.add(one.text)));
  });
  const isExported = (node: ts.VariableDeclaration): boolean =>
    ts.isVariableStatement(node.parent.parent) &&
    (node.parent.parent.modifiers ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
  return (node) => {
    for (let at: ts.Node = node; !ts.isSourceFile(at); at = at.parent) {
      if (ts.isCallExpression(at) && isExpectation(at, judges)) return true;
      if (isLoopOverTests(at) && (at as ts.ForOfStatement).expression === inside(at, node)) return true;
      if (ts.isVariableDeclaration(at) && ts.isIdentifier(at.name)) {
        // A table that a fixture or a file of vectors exports is read by the specs of its family.
        if (read.has(at.name.text) || (isExported(at) && !tree.fileName.endsWith('.spec.ts'))) return true;
      }
    }
    return false;
  };
}

/** The child of `node` that holds `inner`. */
function inside(node: ts.Node, inner: ts.Node): ts.Node {
  let at = inner;
  while (at.parent !== node) at = at.parent;
  return at;
}

/** The name of a function that expects something itself. */
function judgeOf(node: ts.Node): string | undefined {
  const expects = (body: ts.Node): boolean => /\bexpect\(/.test(body.getText());
  if ((ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) && node.name) {
    return expects(node) ? node.name.getText() : undefined;
  }
  if (ts.isVariableDeclaration(node) && node.initializer && ts.isArrowFunction(node.initializer)) {
    return expects(node.initializer) ? node.name.getText() : undefined;
  }
  return undefined;
}

function isExpectation(call: ts.CallExpression, judges: ReadonlySet<string>): boolean {
  let callee: ts.Expression = call.expression;
  while (
    ts.isPropertyAccessExpression(callee) ||
    ts.isCallExpression(callee) ||
    ts.isNonNullExpression(callee) ||
    ts.isElementAccessExpression(callee)
  ) {
    callee = callee.expression;
  }
  const root = ts.isIdentifier(callee) ? callee.text : '';
  if (root === 'it' || root === 'describe') return /^(it|describe)\.each$/.test(call.expression.getText());
  return JUDGE.test(root) || judges.has(root);
}

function isLoopOverTests(node: ts.Node): boolean {
  return ts.isForOfStatement(node) && /\b(expect|it)\(/.test(node.statement.getText());
}
