import { Injectable } from '@nestjs/common';

import type { Principal } from '#libs/kernel';

import { CatalogReader, resolveTable, type TableAddress } from '../introspection/catalog-reader.js';
import { unknownStatistics, type TableStatisticsView } from './statistics.js';

/** What a database knows about a table without reading it: rows, indexes, spread of values (06 §9). */
@Injectable()
export class TableStatistics {
  constructor(private readonly catalogs: CatalogReader) {}

  /**
   * `gaveUp` ends the read before its own 10 s.
   *
   * @throws 404 `datasource.table_not_found` with a suggestion; and as every read of a catalog
   */
  async read(
    principal: Principal,
    name: string,
    address: TableAddress,
    gaveUp?: AbortSignal,
  ): Promise<TableStatisticsView> {
    const record = await this.catalogs.visible(principal, 'datasource.read', name);
    return await this.catalogs.read(record, gaveUp, async (catalog) => {
      const { driver, query } = catalog;
      const table = await resolveTable(catalog, address);
      const columns = await driver.introspection.columns(query, table);
      return driver.statistics ? await driver.statistics(query, table, columns) : unknownStatistics(columns);
    });
  }
}
