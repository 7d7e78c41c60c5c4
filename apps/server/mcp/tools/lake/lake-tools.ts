import { Injectable } from '@nestjs/common';
import type { JsonObject, JsonValue } from '#libs/kernel';
import { LakeImportService, LakeTablesService } from '#libs/lake';
import { serve, type ToolFamily } from '../tool.js';
import { LAKE_TOOLS } from './lake-declarations.js';

/** The registry of lake datasources. */
@Injectable()
export class LakeTools implements ToolFamily {
  readonly tools = [
    serve(LAKE_TOOLS.register, ({ principal, signal }, { name, table, ...fields }) =>
      this.tables.register(principal, name, bodyOf({ name: table, ...fields }), signal),
    ),
    serve(LAKE_TOOLS.import, ({ principal, signal }, { name, ...body }) =>
      this.imports.import(principal, name, bodyOf(body), signal),
    ),
    serve(LAKE_TOOLS.unregister, async ({ principal }, { name, namespace, table }) => {
      await this.tables.unregister(principal, name, { namespace, table });
      return { namespace, table, unregistered: true };
    }),
  ];

  constructor(
    private readonly tables: LakeTablesService,
    private readonly imports: LakeImportService,
  ) {}
}

/** As `readJson` would give it: the services read every member themselves. */
function bodyOf(given: Readonly<Record<string, unknown>>): JsonObject {
  const body = Object.create(null) as JsonObject;
  for (const [key, value] of Object.entries(given)) body[key] = value as JsonValue;
  return body;
}
