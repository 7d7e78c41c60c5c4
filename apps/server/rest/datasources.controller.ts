import { Controller, Delete, Get, HttpCode, Param, Post, Put, Req } from '@nestjs/common';
import type { Request } from 'express';
import { DatasourceService, IntrospectionService } from '#libs/datasources';
import type { Principal } from '#libs/kernel';
import { AnnotatedCatalog } from '#libs/semantics';
import { Caller } from '../http/caller.decorator.js';
import { bodyObject, queryFlag, queryText, queryValues } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { Paging } from './paging.js';
import { z } from 'zod';
import { Describe, nothing } from '../http/describe.decorator.js';
import { codesBelow } from '../openapi/error-groups.js';
import {
  columnList,
  connectionTest,
  datasourceBody,
  datasourceView,
  grant,
  granted,
  namespaceQuery,
  schemaList,
  tableList,
} from '../openapi/shapes/datasources.js';
import { listOf, paging } from '../openapi/shapes/envelope.js';

/** Of every look at a live catalog. */
const CATALOG_ERRORS = [
  'datasource.not_found',
  'datasource.table_forbidden',
  'datasource.lake.table_unavailable',
  'pipeline.execution.datasource_unreachable',
  'pipeline.node.query_timeout',
] as const;

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
  @Describe('Register a datasource.', {
    body: datasourceBody,
    answers: { 201: datasourceView },
    errors: [
      ...codesBelow('datasource.validation.'),
      'datasource.driver_not_loaded',
      'auth.session.required',
      'workspace.not_found',
    ],
  })
  async create(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    return this.catalog.annotated(caller, await this.datasources.create(caller, bodyObject(request)));
  }

  @Get()
  @Operation('datasource.read')
  @Describe('List the datasources the workspace may use.', {
    query: {
      ...paging,
      dialect: z.string().optional(),
      all: z.boolean().optional().describe('Every datasource of the instance; for super administrators.'),
    },
    answers: { 200: listOf(datasourceView) },
    errors: ['graphql.cursor_invalid', 'auth.session.required', 'auth.role_required'],
  })
  async list(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const filter = { dialect: queryText(request, 'dialect'), all: queryFlag(request, 'all') };
    return this.paging.list(request, {
      list: 'datasources',
      filter,
      page: (page) => this.catalog.datasources(caller, filter, page),
      count: () => this.datasources.count(caller, filter),
      placeOf: ({ name }) => name,
    });
  }

  @Get(':name')
  @Operation('datasource.read')
  @Describe('Read one datasource, without its secret.', {
    answers: { 200: datasourceView },
    errors: ['datasource.not_found'],
  })
  read(@Caller() caller: Principal, @Param('name') name: string): Promise<unknown> {
    return this.catalog.datasource(caller, name);
  }

  @Put(':name')
  @Operation('datasource.manage')
  @Describe('Replace the settings; a credential left out is kept.', {
    body: datasourceBody,
    answers: { 200: datasourceView },
    errors: [
      'datasource.not_found',
      ...codesBelow('datasource.validation.'),
      'datasource.driver_not_loaded',
      'auth.session.required',
      'workspace.not_found',
    ],
  })
  async update(@Caller() caller: Principal, @Param('name') name: string, @Req() request: Request): Promise<unknown> {
    return this.catalog.annotated(caller, await this.datasources.update(caller, name, bodyObject(request)));
  }

  @Delete(':name')
  @Operation('datasource.manage')
  @Describe('Delete a datasource that nothing refers to.', {
    answers: { 204: nothing('Deleted.') },
    errors: [
      'datasource.not_found',
      'datasource.in_use',
      'datasource.validation.workspace_forbidden',
      'auth.session.required',
    ],
  })
  async remove(@Caller() caller: Principal, @Param('name') name: string): Promise<void> {
    await this.datasources.remove(caller, name);
  }

  @Post(':name/test')
  @HttpCode(200)
  @Operation('datasource.test')
  @Describe('Connect once and tell how it went.', {
    answers: { 200: connectionTest },
    errors: ['datasource.not_found', 'datasource.driver_not_loaded'],
  })
  test(@Caller() caller: Principal, @Param('name') name: string): Promise<unknown> {
    return this.datasources.test(caller, name);
  }

  @Get(':name/grants')
  @Operation('datasource.grant')
  @Describe('List the workspaces that may use it.', {
    answers: { 200: z.array(grant) },
    errors: ['datasource.not_found'],
  })
  grants(@Caller() caller: Principal, @Param('name') name: string): Promise<unknown> {
    return this.datasources.grants(caller, name);
  }

  @Post(':name/grants/:workspace')
  @HttpCode(200)
  @Operation('datasource.grant')
  @Describe('Let a workspace use it; once or twice is the same.', {
    answers: { 200: granted },
    errors: ['datasource.not_found', 'workspace.not_found'],
  })
  grant(
    @Caller() caller: Principal,
    @Param('name') name: string,
    @Param('workspace') workspace: string,
  ): Promise<unknown> {
    return this.datasources.grant(caller, name, workspace);
  }

  @Delete(':name/grants/:workspace')
  @Operation('datasource.grant')
  @Describe('Take a grant back; pipelines there that use it fail from then on.', {
    answers: { 204: nothing('Taken back.') },
    errors: ['datasource.not_found', 'workspace.not_found'],
  })
  async revoke(
    @Caller() caller: Principal,
    @Param('name') name: string,
    @Param('workspace') workspace: string,
  ): Promise<void> {
    await this.datasources.revoke(caller, name, workspace);
  }

  @Get(':name/schemas')
  @Operation('datasource.introspect')
  @Describe('List the schemas, live.', {
    answers: { 200: schemaList },
    errors: CATALOG_ERRORS,
  })
  schemas(@Caller() caller: Principal, @Param('name') name: string): Promise<unknown> {
    return this.introspection.schemas(caller, name);
  }

  @Get(':name/tables')
  @Operation('datasource.introspect')
  @Describe('List the tables, live.', {
    query: namespaceQuery,
    answers: { 200: tableList },
    errors: CATALOG_ERRORS,
  })
  tables(@Caller() caller: Principal, @Param('name') name: string, @Req() request: Request): Promise<unknown> {
    return this.catalog.tables(caller, name, { namespace: namespaceOf(request) });
  }

  @Get(':name/tables/:table/columns')
  @Operation('datasource.introspect')
  @Describe('List the columns of a table, live.', {
    query: namespaceQuery,
    answers: { 200: columnList },
    errors: [
      ...CATALOG_ERRORS,
      'datasource.table_not_found',
      'datasource.lake_table_not_found',
      'pipeline.execution.parameter_required',
    ],
  })
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
