import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { DuckDBInstance, LIST, listValue, VARCHAR, type DuckDBConnection } from '@duckdb/node-api';
import { EngineStatementParser, type EngineVerdict } from './statement-parser.js';

/** A parser needs no data, no threads, no files, and may load nothing. */
const SCRATCH = {
  threads: '1',
  memory_limit: '256MB',
  temp_directory: '',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  enable_external_access: 'false',
  lock_configuration: 'true',
};

/** A SELECT is what `json_serialize_sql` accepts; it answers anything else with `error`, and its syntax errors apart. */
const SERIALISE = `
  SELECT json_extract_string(j, '$.error'), json_extract_string(j, '$.error_type'),
         json_extract_string(j, '$.error_message'), json_array_length(j, '$.statements'),
         to_json(json_extract(j, '$..table_name')), to_json(json_extract(j, '$..schema_name')),
         to_json(json_extract(j, '$..cte_map.map[*].key'))
    FROM (SELECT json_serialize_sql(s) AS j, i
            FROM (SELECT unnest($1::VARCHAR[]) AS s, generate_subscripts($1::VARCHAR[], 1) AS i))
   ORDER BY i`;

/** DuckDB's parser on a scratch connection that lives as long as the process. */
@Injectable()
export class DuckDbStatementParser extends EngineStatementParser implements OnModuleDestroy {
  #connection: Promise<DuckDBConnection> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  async parse(statements: readonly string[], signal?: AbortSignal): Promise<EngineVerdict[]> {
    if (statements.length === 0) return [];
    const connection = await this.#open();
    // One connection takes one call at a time.
    const turn = this.#last.then(async () => {
      signal?.throwIfAborted();
      return judge(connection, statements);
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** A failed attempt is not remembered: the next save may find memory again. */
  #open(): Promise<DuckDBConnection> {
    const opening = (this.#connection ??= open());
    opening.catch(() => {
      if (this.#connection === opening) this.#connection = undefined;
    });
    return opening;
  }

  async onModuleDestroy(): Promise<void> {
    await this.#last;
    (await this.#connection)?.closeSync();
    this.#connection = undefined;
  }
}

async function open(): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', SCRATCH);
  return instance.connect();
}

async function judge(connection: DuckDBConnection, statements: readonly string[]): Promise<EngineVerdict[]> {
  const prepared = await connection.prepare(SERIALISE);
  try {
    prepared.bindList(1, listValue([...statements]), LIST(VARCHAR));
    const rows = (await prepared.runAndReadAll()).getRows();
    const verdicts: EngineVerdict[] = [];
    for (const [index, row] of rows.entries()) {
      const [error, kind, message, count, ...named] = row as [string, string | null, string | null, bigint | null];
      if (error === 'false') verdicts.push({ statements: Number(count ?? 0), reads: true, tables: tablesOf(named) });
      else if (kind === 'parser') {
        verdicts.push({ statements: 1, reads: false, syntaxError: message ?? 'syntax error' });
      } else verdicts.push({ statements: await countOf(connection, statements[index]!), reads: false });
    }
    return verdicts;
  } finally {
    prepared.destroySync();
  }
}

/** Base tables of a serialised statement: its table names, their schemas and the names of its WITH lists. */
function tablesOf(lists: readonly unknown[]): string[] {
  const [names = [], schemas = [], common = []] = lists.map(namesIn);
  const hidden = new Set(common);
  const bare = names.filter((name, index) => name !== '' && ['', 'main'].includes(schemas[index] ?? ''));
  return [...new Set(bare)].filter((name) => !hidden.has(name));
}

function namesIn(json: unknown): string[] {
  const list: unknown = typeof json === 'string' ? JSON.parse(json) : [];
  return Array.isArray(list) ? list.map((name) => String(name).toLowerCase()) : [];
}

async function countOf(connection: DuckDBConnection, sql: string): Promise<number> {
  return (await connection.extractStatements(sql)).count;
}
