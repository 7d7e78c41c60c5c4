import { Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Principal } from '#libs/kernel';
import { LakeImportService, LakeTablesService } from '#libs/lake';
import { Caller } from '../http/caller.decorator.js';
import { clientGone } from '../http/client-gone.js';
import { bodyObject } from '../http/input.js';
import { Describe, nothing } from '../http/describe.decorator.js';
import { Operation } from '../http/operation.decorator.js';
import { codesBelow } from '../openapi/error-groups.js';
import { lakeImport, lakeImportBody, lakeTable, lakeTableBody, lakeTableList } from '../openapi/shapes/lake.js';

const WRITE_ERRORS = [
  'datasource.not_found',
  ...codesBelow('datasource.validation.lake_'),
  'datasource.validation.properties_invalid',
  'pipeline.execution.datasource_unreachable',
  'pipeline.node.query_timeout',
  'rate_limit.exceeded',
  'auth.session.required',
] as const;

/** The registry of a lake datasource; a namespace in a path is dotted. */
@Controller('/api/v1/datasources/:name')
export class LakeTablesController {
  constructor(
    private readonly tables: LakeTablesService,
    private readonly imports: LakeImportService,
  ) {}

  @Get('lake-tables')
  @Operation('datasource.read')
  @Describe('List the registered tables of a lake, with what is wrong with them.', {
    answers: { 200: lakeTableList },
    errors: ['datasource.not_found', 'datasource.validation.lake_dialect_required'],
  })
  list(@Caller() caller: Principal, @Param('name') name: string): Promise<unknown> {
    return this.tables.list(caller, name);
  }

  @Post('tables')
  @Operation('lake_table.manage')
  @Describe('Register a lake table once a row of it could be read.', {
    body: lakeTableBody,
    answers: { 201: lakeTable },
    errors: [...WRITE_ERRORS, 'datasource.lake_table_duplicate'],
  })
  register(
    @Caller() caller: Principal,
    @Param('name') name: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    return this.tables.register(caller, name, bodyObject(request), clientGone(response).signal);
  }

  @Post('tables/import')
  @HttpCode(200)
  @Operation('lake_table.manage')
  @Describe('Register many lake tables, from a list or a manifest: all or none.', {
    body: lakeImportBody,
    answers: { 200: lakeImport },
    errors: [...WRITE_ERRORS, 'datasource.lake_table_duplicate'],
  })
  import(
    @Caller() caller: Principal,
    @Param('name') name: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    return this.imports.import(caller, name, bodyObject(request), clientGone(response).signal);
  }

  @Delete('tables/:namespace/:table')
  @Operation('lake_table.manage')
  @Describe('Remove a lake table from the registry; its files stay.', {
    answers: { 204: nothing('Removed.') },
    errors: [
      'datasource.not_found',
      'datasource.validation.lake_dialect_required',
      'datasource.lake_table_not_found',
      'auth.session.required',
    ],
  })
  async unregister(
    @Caller() caller: Principal,
    @Param('name') name: string,
    @Param('namespace') namespace: string,
    @Param('table') table: string,
  ): Promise<void> {
    await this.tables.unregister(caller, name, { namespace, table });
  }
}
