import { classifyProbe, type DatasourceRecord } from '#libs/datasources';
import { lexSql, quoteForMessage } from '#libs/typesystem';
import type { Notes } from '../document/notes.js';
import type { ParameterDeclaration } from '../document/pipeline-document.js';
import type { ReadCheck } from '../document/read-checks.js';

/** What needs a check's dialect: its statement class and its binds (contract 01 §9). */
export function judgeChecks(
  checks: readonly ReadCheck[],
  parameters: ReadonlyMap<string, ParameterDeclaration>,
  datasources: ReadonlyMap<string, Pick<DatasourceRecord, 'dialect'>>,
  notes: Notes,
): void {
  for (const check of checks) {
    const { path, datasource, sql } = check;
    if (datasource === undefined) continue;
    const dialect = datasources.get(datasource)?.dialect;
    const fail = (key: string, message: string): void =>
      notes.fail('pipeline.validation.check_invalid', `${path}.${key}`, message);
    if (dialect === undefined) {
      fail('datasource', `This workspace has no datasource ${quoteForMessage(datasource)}.`);
      continue;
    }
    if (sql === undefined) continue;
    const verdict = classifyProbe(dialect, sql);
    if (!verdict.ok) {
      const word = verdict.word === undefined ? '' : ` (${verdict.word})`;
      fail('sql', `A check is one SELECT that reads only; this one is refused: ${verdict.reason}${word}.`);
      continue;
    }
    const tokens = lexSql(dialect, sql);
    for (const name of bindNames(tokens)) {
      const declaration = parameters.get(name);
      if (!declaration) fail('sql', `":${name}" is no declared parameter of this pipeline.`);
      else if (declaration.required && check.parameters?.[name] === undefined) {
        fail('parameters', `Give "${name}" a value here: it is required, and a release supplies none.`);
      }
    }
    if (tokens.some(({ kind }) => kind === 'native_placeholder')) {
      fail('sql', "The statement holds a placeholder of the driver's own: bind parameters as :name.");
    }
  }
}

/** The names bound in a lexed statement, each once. */
function bindNames(tokens: ReturnType<typeof lexSql>): Set<string> {
  return new Set(tokens.filter(({ kind }) => kind === 'bind').map(({ text }) => text.slice(1)));
}
