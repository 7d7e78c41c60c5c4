import { Controller, Delete, Get, HttpCode, Param, Post, Put, Req } from '@nestjs/common';
import type { Request } from 'express';
import { DatasourceService, IntrospectionService } from '#libs/datasources';
import type { Principal } from '#libs/kernel';
import { AnnotatedCatalog } from '#libs/semantics';
import { Caller } from '../http/caller.decorator.js';
import { bodyObject, listBody, queryFlag, queryText, queryValues } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { Paging } from './paging.js';

/** Datasources by name; secrets go in and never come out. */
@Controller('/api/v1/datasources')
export class DatasourcesController {
  constructor(
    private readonly datasources: DatasourceService,
    private readonly introspection: IntrospectionService,
    private readonly catalog: AnnotatedCatalog,
    private readonly paging: Paging,
  ) {}

  @Post()
  @Operation('datasource.manage')
  async create(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    return this.catalog.annotated(caller, await this.datasources.create(caller, bodyObject(request)));
  }

  @Get()
  @Operation('datasource.read')
  async list(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const page = this.paging.of(request);
    const filter = { dialect: queryText(request, 'dialect'), all: queryFlag(request, 'all') };
    return listBody(page, await this.catalog.datasources(caller, { ...filter, ...page }));
  }

  @Get(':name')
  @Operation('datasource.read')
  read(@Caller() caller: Principal, @Param('name') name: string): Promise<unknown> {
    return this.catalog.datasource(caller, name);
  }

  @Put(':name')
  @Operation('datasource.manage')
  async update(@Caller() caller: Principal, @Param('name') name: string, @Req() request: Request): Promise<unknown> {
    return this.catalog.annotated(caller, await this.datasources.update(caller, name, bodyObject(request)));
  }

  @Delete(':name')
  @Operation('datasource.manage')
  async remove(@Caller() caller: Principal, @Param('name') name: string): Promise<void> {
    await this.datasources.remove(caller, name);
  }

  @Post(':name/test')
  @HttpCode(200)
  @Operation('datasource.test')
  test(@Caller() caller: Principal, @Param('name') name: string): Promise<unknown> {
    return this.datasources.test(caller, name);
  }

  @Get(':name/grants')
  @Operation('datasource.grant')
  async grants(@Caller() caller: Principal, @Param('name') name: string): Promise<unknown> {
    return { grants: await this.datasources.grants(caller, name) };
  }

  @Post(':name/grants/:workspace')
  @HttpCode(200)
  @Operation('datasource.grant')
  grant(
    @Caller() caller: Principal,
    @Param('name') name: string,
    @Param('workspace') workspace: string,
  ): Promise<unknown> {
    return this.datasources.grant(caller, name, workspace);
  }

  @Delete(':name/grants/:workspace')
  @Operation('datasource.grant')
  async revoke(
    @Caller() caller: Principal,
    @Param('name') name: string,
    @Param('workspace') workspace: string,
  ): Promise<void> {
    await this.datasources.revoke(caller, name, workspace);
  }

  @Get(':name/schemas')
  @Operation('datasource.introspect')
  schemas(@Caller() caller: Principal, @Param('name') name: string): Promise<unknown> {
    return this.introspection.schemas(caller, name);
  }

  @Get(':name/tables')
  @Operation('datasource.introspect')
  tables(@Caller() caller: Principal, @Param('name') name: string, @Req() request: Request): Promise<unknown> {
    return this.catalog.tables(caller, name, { namespace: namespaceOf(request) });
  }

  @Get(':name/tables/:table/columns')
  @Operation('datasource.introspect')
  async columns(
    @Caller() caller: Principal,
    @Param('name') name: string,
    @Param('table') table: string,
    @Req() request: Request,
  ): Promise<unknown> {
    return this.catalog.columns(caller, name, { table, namespace: namespaceOf(request) });
  }
}

/** `?namespace=a&namespace=b`, `?namespace=a.b` or `?schema=a`; blank is absent (06 §8). */
function namespaceOf(request: Request): string[] | undefined {
  const given = queryValues(request, 'namespace').filter((part) => part.trim() !== '');
  const parts = given.length > 0 ? given : queryValues(request, 'schema').filter((part) => part.trim() !== '');
  if (parts.length === 0) return undefined;
  return parts.length === 1 ? (parts[0] as string).split('.') : parts;
}
