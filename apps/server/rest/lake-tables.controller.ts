import { Controller, Delete, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from '#libs/kernel';
import { LakeImportService, LakeTablesService } from '#libs/lake';
import { Caller } from '../http/caller.decorator.js';
import { bodyObject } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';

/** The registry of a lake datasource; a namespace in a path is dotted. */
@Controller('/api/v1/datasources/:name')
export class LakeTablesController {
  constructor(
    private readonly tables: LakeTablesService,
    private readonly imports: LakeImportService,
  ) {}

  @Get('lake-tables')
  @Operation('datasource.read')
  list(@Caller() caller: Principal, @Param('name') name: string): Promise<unknown> {
    return this.tables.list(caller, name);
  }

  @Post('tables')
  @Operation('lake_table.manage')
  register(@Caller() caller: Principal, @Param('name') name: string, @Req() request: Request): Promise<unknown> {
    return this.tables.register(caller, name, bodyObject(request));
  }

  @Post('tables/import')
  @HttpCode(200)
  @Operation('lake_table.manage')
  import(@Caller() caller: Principal, @Param('name') name: string, @Req() request: Request): Promise<unknown> {
    return this.imports.import(caller, name, bodyObject(request));
  }

  @Delete('tables/:namespace/:table')
  @Operation('lake_table.manage')
  async unregister(
    @Caller() caller: Principal,
    @Param('name') name: string,
    @Param('namespace') namespace: string,
    @Param('table') table: string,
  ): Promise<void> {
    await this.tables.unregister(caller, name, { namespace, table });
  }
}
