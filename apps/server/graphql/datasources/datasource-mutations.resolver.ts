import { Args, Context, Mutation, Resolver } from '@nestjs/graphql';
import { DatasourceService, type DatasourceView } from '#libs/datasources';
import { writeJson, type JsonObject, type Principal } from '#libs/kernel';
import { jsonOf } from '../schema/json-input.js';
import { DeletedPayload } from '../schema/payloads.js';
import { Cost, RootField } from '../schema/root-field.js';
import { wireInput } from '../schema/wire-input.js';
import { DatasourceNodes } from './datasource-nodes.js';
import {
  CreateDatasourceInput,
  DeleteDatasourceInput,
  GrantDatasourceInput,
  RevokeDatasourceInput,
  TestDatasourceInput,
  UpdateDatasourceInput,
} from './datasource.inputs.js';
import { DatasourceGrantsPayload, DatasourcePayload, TestDatasourcePayload } from './datasource.types.js';

const LIVE_COST = 50;

@Resolver()
export class DatasourceMutations {
  constructor(
    private readonly service: DatasourceService,
    private readonly nodes: DatasourceNodes,
  ) {}

  @Mutation(() => DatasourcePayload)
  @RootField('datasource.manage')
  async createDatasource(
    @Context('principal') caller: Principal,
    @Args('input') input: CreateDatasourceInput,
  ): Promise<DatasourcePayload> {
    return this.#payload(await this.service.create(caller, bodyOf(input)));
  }

  @Mutation(() => DatasourcePayload)
  @RootField('datasource.manage')
  async updateDatasource(
    @Context('principal') caller: Principal,
    @Args('input') input: UpdateDatasourceInput,
  ): Promise<DatasourcePayload> {
    return this.#payload(await this.service.update(caller, input.name, bodyOf(input)));
  }

  @Mutation(() => DeletedPayload)
  @RootField('datasource.manage')
  async deleteDatasource(
    @Context('principal') caller: Principal,
    @Args('input') { name }: DeleteDatasourceInput,
  ): Promise<DeletedPayload> {
    await this.service.remove(caller, name);
    return { deletedId: name };
  }

  @Mutation(() => TestDatasourcePayload)
  @RootField('datasource.test')
  @Cost(LIVE_COST)
  async testDatasource(
    @Context('principal') caller: Principal,
    @Args('input') { name }: TestDatasourceInput,
  ): Promise<TestDatasourcePayload> {
    const outcome = await this.service.test(caller, name);
    return {
      ...this.#payload(await this.service.read(caller, name)),
      connected: outcome.connected,
      testedAt: outcome.tested_at,
      latencyMs: outcome.latency_ms ?? null,
      serverVersion: outcome.server_version ?? null,
      error: outcome.error ?? null,
      errorClass: outcome.error_class ?? null,
    };
  }

  @Mutation(() => DatasourceGrantsPayload)
  @RootField('datasource.grant')
  async grantDatasource(
    @Context('principal') caller: Principal,
    @Args('input') { name, workspace }: GrantDatasourceInput,
  ): Promise<DatasourceGrantsPayload> {
    await this.service.grant(caller, name, workspace);
    return this.#grants(caller, name);
  }

  @Mutation(() => DatasourceGrantsPayload)
  @RootField('datasource.grant')
  async revokeDatasource(
    @Context('principal') caller: Principal,
    @Args('input') { name, workspace }: RevokeDatasourceInput,
  ): Promise<DatasourceGrantsPayload> {
    await this.service.revoke(caller, name, workspace);
    return this.#grants(caller, name);
  }

  async #grants(caller: Principal, name: string): Promise<DatasourceGrantsPayload> {
    return { grants: (await this.service.grants(caller, name)).map((view) => this.nodes.grant(view)) };
  }

  #payload(view: DatasourceView): DatasourcePayload {
    return { datasource: this.nodes.datasource(view) };
  }
}

/** The input as the REST body it stands for, read like one so that its numbers are exact; null members are left out. */
function bodyOf({ propertiesJson, credential, ...input }: CreateDatasourceInput): JsonObject {
  const given = Object.fromEntries(Object.entries(wireInput(input)).filter(([, value]) => value !== null));
  return {
    ...(jsonOf(writeJson(given), 'input') as JsonObject),
    ...(credential ? { credential: jsonOf(writeJson({ ...credential }), 'credential') } : {}),
    ...(propertiesJson == null ? {} : { properties: jsonOf(propertiesJson, 'propertiesJson') }),
  };
}
