import { Context, Mutation, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import type { Principal } from '#libs/kernel';
import { LakeImportService, LakeTablesService, type LakeTableView } from '#libs/lake';
import { Batch } from '../engine/batch.js';
import { OperationContext } from '../engine/operation-context.js';
import { Actors } from '../identity/actor.js';
import { jsonObjectOf } from '../schema/json-input.js';
import { DeletedPayload } from '../schema/payloads.js';
import { InputArg } from '../schema/input-arg.js';
import { Cost, RootField } from '../schema/root-field.js';
import { DatasourceType } from './datasource.types.js';
import {
  ImportLakeTablesInput,
  ImportLakeTablesPayload,
  LakeTablePayload,
  LakeTableType,
  RegisterLakeTableInput,
  UnregisterLakeTableInput,
} from './lake.types.js';

/** Looking at files leaves the server. */
const LIVE_COST = 50;

/** The registry of lake datasources. */
@Resolver(() => DatasourceType)
export class LakeResolver {
  /** Tables by datasource. */
  readonly #lists: Batch<string, LakeTableView[]>;

  constructor(
    private readonly tables: LakeTablesService,
    private readonly imports: LakeImportService,
    private readonly actors: Actors,
  ) {
    this.#lists = new Batch((principal, names) => tables.listAmong(principal, names));
  }

  @ResolveField(() => [LakeTableType], {
    description: 'Registered tables of a lake datasource; empty for every other dialect.',
  })
  @Cost(5)
  async lakeTables(
    @Parent() { name, dialect }: DatasourceType,
    @Context() context: OperationContext,
  ): Promise<LakeTableType[]> {
    if (dialect !== 'LAKE') return [];
    return ((await context.load(this.#lists, name)) ?? []).map((view) => this.#node(view));
  }

  @Mutation(() => LakeTablePayload, {
    description: 'Puts one table into the catalog of a lake, once a row of its files could be read.',
  })
  @RootField('lake_table.manage')
  @Cost(LIVE_COST)
  async registerLakeTable(
    @Context() { principal, deadline }: OperationContext,
    @InputArg() { datasource, namespace, name, format, location, partitionColumn }: RegisterLakeTableInput,
  ): Promise<LakeTablePayload> {
    const body = { namespace, name, format, location, partition_column: partitionColumn ?? null };
    return { lakeTable: this.#node(await this.tables.register(principal, datasource, body, deadline.signal)) };
  }

  @Mutation(() => DeletedPayload, { description: 'Takes a table out of the catalog of a lake; its files stay.' })
  @RootField('lake_table.manage')
  async unregisterLakeTable(
    @Context('principal') caller: Principal,
    @InputArg() { datasource, namespace, name }: UnregisterLakeTableInput,
  ): Promise<DeletedPayload> {
    await this.tables.unregister(caller, datasource, { namespace, table: name });
    return { deletedId: [...namespace, name].join('.') };
  }

  @Mutation(() => ImportLakeTablesPayload, {
    description: 'Puts up to 500 tables into the catalog of a lake, all or none; those already there stay as they are.',
  })
  @RootField('lake_table.manage')
  @Cost(LIVE_COST)
  async importLakeTables(
    @Context() { principal, deadline }: OperationContext,
    @InputArg() { datasource, importJson }: ImportLakeTablesInput,
  ): Promise<ImportLakeTablesPayload> {
    const body = jsonObjectOf(importJson, 'importJson');
    const done = await this.imports.import(principal, datasource, body, deadline.signal);
    return {
      registered: done.registered.map((view) => this.#node(view)),
      registeredCount: done.registered_count,
      alreadyRegistered: done.already_registered.map((view) => this.#node(view)),
      alreadyRegisteredCount: done.already_registered_count,
    };
  }

  #node(view: LakeTableView): LakeTableType {
    return {
      id: view.id,
      namespace: view.namespace,
      name: view.name,
      format: view.format,
      location: view.location,
      partitionColumn: view.partition_column,
      registeredBy: this.actors.of(view.registered_by),
      registeredAt: view.registered_at,
      lastError: view.last_error,
      lastErrorAt: view.last_error_at,
    };
  }
}
