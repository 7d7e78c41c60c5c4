import { Injectable } from '@nestjs/common';
import { DatasourceService, IntrospectionService, RowPreview, SqlProbe, TableStatistics } from '#libs/datasources';
import { Configuration, type JsonObject } from '#libs/kernel';
import { AnnotatedCatalog } from '#libs/semantics';
import { everyEntry } from '../every-entry.js';
import { ListedEntries } from '../listed-entries.js';
import { serve, type ToolFamily } from '../tool.js';
import { DATASOURCE_TOOLS } from './datasource-declarations.js';
import { wrongArgument } from './wrong-argument.js';

/** Registered datasources: what they hold, and bounded looks into them. */
@Injectable()
export class DatasourceTools implements ToolFamily {
  readonly tools = [
    serve(DATASOURCE_TOOLS.list, async ({ principal }, { dialect }) => {
      const { items, total } = await everyEntry(this.#most, {
        page: (page) => this.catalog.datasources(principal, { dialect }, page),
        count: () => this.catalog.count(principal, { dialect }),
        placeOf: ({ name }) => name,
      });
      return new ListedEntries(items, total, 'list one “dialect”, or read one by its name with datasources_get');
    }),
    serve(DATASOURCE_TOOLS.get, ({ principal }, { name }) => this.catalog.datasource(principal, name)),
    serve(DATASOURCE_TOOLS.test, ({ principal }, { name }) => this.datasources.test(principal, name)),
    serve(DATASOURCE_TOOLS.schemas, ({ principal, signal }, { name }) =>
      this.introspection.schemas(principal, name, signal),
    ),
    serve(DATASOURCE_TOOLS.tables, ({ principal, signal }, { name, ...where }) =>
      this.catalog.tables(principal, name, { namespace: namespaceOf(where) }, signal),
    ),
    serve(DATASOURCE_TOOLS.columns, ({ principal, signal }, { name, table, ...where }) =>
      this.catalog.columns(principal, name, { table, namespace: namespaceOf(where) }, signal),
    ),
    serve(DATASOURCE_TOOLS.statistics, ({ principal, signal }, { name, table, namespace }) =>
      this.statistics.read(principal, name, { table, namespace: namespaceOf({ namespace }) }, signal),
    ),
    serve(DATASOURCE_TOOLS.preview, ({ principal, signal }, { name, table, order_by, limit, ...where }) =>
      wrongArgument(
        this.previews.read(
          principal,
          name,
          { table, namespace: namespaceOf(where), order_by: order_by?.map(sorting), limit },
          signal,
        ),
      ),
    ),
    serve(DATASOURCE_TOOLS.probe, ({ principal, signal }, { name, ...request }) =>
      wrongArgument(this.probes.run(principal, name, request, signal)),
    ),
  ];
  readonly #most: number;

  constructor(
    private readonly datasources: DatasourceService,
    private readonly introspection: IntrospectionService,
    private readonly catalog: AnnotatedCatalog,
    private readonly statistics: TableStatistics,
    private readonly previews: RowPreview,
    private readonly probes: SqlProbe,
    configuration: Configuration,
  ) {
    this.#most = configuration.get('datapipelines.web.page-max-limit');
  }
}

/** Blank is absent, and `namespace` beats `schema` (06 §8). */
function namespaceOf({ namespace, schema }: { namespace?: string[]; schema?: string }): string[] | undefined {
  const parts = (namespace ?? []).filter((part) => part.trim() !== '');
  if (parts.length > 0) return parts;
  return schema === undefined || schema.trim() === '' ? undefined : [schema];
}

function sorting(given: JsonObject): { column: string; direction?: 'ASC' | 'DESC' } {
  const { column, direction } = given;
  return { column: String(column as string), direction: direction as 'ASC' | 'DESC' | undefined };
}
