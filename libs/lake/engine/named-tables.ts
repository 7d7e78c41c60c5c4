import { lexSql, significantTokens } from '#libs/typesystem';

/**
 * The dotted names in a statement, each as its parts in lower case without quotes: among them are all its tables. Only
 * asked of a statement whose tables the engine did not find.
 */
export function dottedNames(sql: string): string[][] {
  const names: string[][] = [];
  let current: string[] = [];
  let joined = false;
  for (const { kind, text } of significantTokens(lexSql('LAKE', sql))) {
    const part = partOf(kind, text);
    if (text === '.' && current.length > 0) {
      joined = true;
      continue;
    }
    if (part !== undefined && joined) current.push(part);
    else {
      if (current.length > 0) names.push(current);
      current = part === undefined ? [] : [part];
    }
    joined = false;
  }
  return current.length > 0 ? [...names, current] : names;
}

function partOf(kind: string, text: string): string | undefined {
  if (kind === 'word') return text.toLowerCase();
  if (kind === 'quoted_identifier') return text.slice(1, -1).replaceAll('""', '"').toLowerCase();
  return undefined;
}
