import { Context, Mutation, Resolver } from '@nestjs/graphql';
import { DatasourceService, type DatasourceView } from '#libs/datasources';
import { writeJson, type JsonObject, type Principal } from '#libs/kernel';
import { jsonOf } from '../schema/json-input.js';
import { DeletedPayload } from '../schema/payloads.js';
import { InputArg } from '../schema/input-arg.js';
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

  @Mutation(() => DatasourcePayload, {
    description: 'Registers a database; it is not connected to until it is tested or used.',
  })
  @RootField('datasource.manage')
  async createDatasource(
    @Context('principal') caller: Principal,
    @InputArg() input: CreateDatasourceInput,
  ): Promise<DatasourcePayload> {
    return this.#payload(await this.service.create(caller, bodyOf(input)));
  }

  @Mutation(() => DatasourcePayload, {
    description: 'Replaces a registration whole; the stored secret stays while its kind does.',
  })
  @RootField('datasource.manage')
  async updateDatasource(
    @Context('principal') caller: Principal,
    @InputArg() input: UpdateDatasourceInput,
  ): Promise<DatasourcePayload> {
    return this.#payload(await this.service.update(caller, input.name, bodyOf(input)));
  }

  @Mutation(() => DeletedPayload, {
    description: 'Forgets a database that no stored version refers to; the database itself is not touched.',
  })
  @RootField('datasource.manage')
  async deleteDatasource(
    @Context('principal') caller: Principal,
    @InputArg() { name }: DeleteDatasourceInput,
  ): Promise<DeletedPayload> {
    await this.service.remove(caller, name);
    return { deletedId: name };
  }

  @Mutation(() => TestDatasourcePayload, {
    description: 'Connects once and tells how that went; failing is an outcome, not an error.',
  })
  @RootField('datasource.test')
  @Cost(LIVE_COST)
  async testDatasource(
    @Context('principal') caller: Principal,
    @InputArg() { name }: TestDatasourceInput,
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

  @Mutation(() => DatasourceGrantsPayload, {
    description: 'Lets a further workspace use a database; granting twice changes nothing.',
  })
  @RootField('datasource.grant')
  async grantDatasource(
    @Context('principal') caller: Principal,
    @InputArg() { name, workspace }: GrantDatasourceInput,
  ): Promise<DatasourceGrantsPayload> {
    await this.service.grant(caller, name, workspace);
    return this.#grants(caller, name);
  }

  @Mutation(() => DatasourceGrantsPayload, {
    description: 'Takes the use of a database from a workspace; its next run fails.',
  })
  @RootField('datasource.grant')
  async revokeDatasource(
    @Context('principal') caller: Principal,
    @InputArg() { name, workspace }: RevokeDatasourceInput,
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
