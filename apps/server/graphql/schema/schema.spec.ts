import 'reflect-metadata';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  validate,
  validateSchema,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';
import { operationRow } from '#libs/identity';
import { operationOf } from '../engine/guarded-schema.js';
import { OperationGate } from '../limits/operation-gate.js';
import { bareSchema, renderSchema } from './render-schema.js';

const GENERATED = new URL('../../../../docs/generated/schema.graphql', import.meta.url);
const EXAMPLES = new URL('../../../graphiql/examples.js', import.meta.url);

let schema: GraphQLSchema;
beforeAll(async () => {
  schema = await bareSchema();
});

function rootFields(): [string, GraphQLField<unknown, unknown>][] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  return roots.flatMap((root) =>
    Object.values(root?.getFields() ?? {}).map((field): [string, GraphQLField<unknown, unknown>] => [
      `${root?.name}.${field.name}`,
      field,
    ]),
  );
}

/** 03 §9, as the wire spells them. */
const WORDS: Readonly<Record<string, string>> = {
  LogicalType: 'NULL BOOLEAN INTEGER BIGINTEGER DECIMAL BIGDECIMAL STRING BINARY DATE TIME TIMESTAMP',
  NodeType: 'DQL DML DDL PIPELINE CALCULATOR',
  Dialect: 'POSTGRES ORACLE MSSQL MYSQL H2 DUCKDB SQLITE LAKE',
  CredentialKind: 'password token private_key service_account_json none',
  VersionStatus: 'DRAFT RELEASED DISCARDED',
  EntityStatus: 'ACTIVE DISCARDED',
  ExecutionStatus: 'RUNNING SUCCESS FAILED ABORTED',
  NodeStatus: 'RUNNING SUCCESS FAILED ABORTED',
  ExecutionTrigger: 'UI REST MCP PIPELINE ENDPOINT',
  Scope: 'read execute author',
  ApiKeyKind: 'user endpoint server',
  Capability: 'view execute author switch promote ws_admin super_admin',
  WriteSurface: 'session api_key mcp',
  LakeFormat: 'parquet iceberg',
  FactScope: 'DATASOURCE WORKSPACE',
  FactTrust: 'asserted observed verified needs_review stale retired',
  FactKind: 'unit time_zone sampling grain window enum_meaning join caveat format definition exclusion preference',
  CheckVerdict: 'pass fail error',
  CheckVia: 'mcp rest ui release',
  MailKind: 'welcome password_reset new_user',
  MailStatus: 'PENDING SENT FAILED',
};

function fieldsOfObjects(): [string, GraphQLField<unknown, unknown>][] {
  const roots = new Set(['Query', 'Mutation', 'Subscription']);
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter(({ name }) => !roots.has(name) && !name.startsWith('__'))
    .flatMap((type) => Object.values(type.getFields()).map((field) => [`${type.name}.${field.name}`, field] as const))
    .map(([name, field]): [string, GraphQLField<unknown, unknown>] => [name, field]);
}

/** 03 §13. */
function typeByName(name: string): string | undefined {
  if (name === 'id' || /Id$/.test(name)) return 'ID';
  if (/At$/.test(name)) return 'DateTime';
  if (/^(is|has)[A-Z]|Set$/.test(name)) return 'Boolean';
  if (name === 'number' || name === 'version' || /Count$/.test(name)) return 'Int';
  if (/(Ms|Bytes|Rows)$/.test(name) || name === 'offset') return 'Long';
  return /Json$/.test(name) ? 'JsonText' : undefined;
}

describe('the schema', () => {
  it('is valid', () => {
    expect(validateSchema(schema)).toEqual([]);
  });

  it('is the one that is documented, so that no change of it goes unseen', async () => {
    expect(await renderSchema()).toBe(readFileSync(GENERATED, 'utf8'));
  });

  it('names a row of the operations table on every root field, so that none is open by forgetting', () => {
    for (const [name, field] of rootFields()) {
      expect({ name, row: operationRow(operationOf(field)) }).toEqual({ name, row: expect.anything() });
    }
    expect(rootFields().length).toBeGreaterThan(60);
  });

  it('has nullable root fields: a failed one must not void the answer of a mutation that committed', () => {
    expect(
      rootFields()
        .filter(([, field]) => isNonNullType(field.type))
        .map(([name]) => name),
    ).toEqual([]);
  });

  it('types a field by the ending of its name, so that a reader knows what it holds before he looks', () => {
    const odd = fieldsOfObjects().flatMap(([name, field]) => {
      const expected = typeByName(field.name);
      const found = getNamedType(field.type);
      return expected === undefined || isObjectType(found) || found.name === expected ? [] : [`${name}: ${found.name}`];
    });
    // Rows of a result may be more than an Int can say; events are numbered; a build names itself.
    expect(odd.sort()).toEqual([
      'Execution.resultRowCount: Long',
      'ExecutionEvent.eventId: Int',
      'Instance.version: String',
    ]);
  });

  it('has the words of the wire as its enums, upper-cased: no more, no fewer', () => {
    const found = Object.keys(WORDS).map((name) => {
      const type = schema.getType(name);
      const words = isEnumType(type) ? type.getValues().map((value) => value.name) : [];
      return [name, words.sort()];
    });
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(Object.entries(WORDS).map(([name, words]) => [name, words.toUpperCase().split(' ').sort()])),
    );
  });

  it('takes one required input of its own name per mutation', () => {
    for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
      const expected = `${field.name[0]?.toUpperCase()}${field.name.slice(1)}Input!`;
      const shared: Record<string, string> = {
        deactivateWorkspace: 'WorkspaceNameInput!',
        reactivateWorkspace: 'WorkspaceNameInput!',
        deleteWorkspace: 'WorkspaceNameInput!',
        resetPassword: 'UserIdInput!',
        disableLocalPassword: 'UserIdInput!',
        unlockUser: 'UserIdInput!',
        activateUser: 'UserIdInput!',
        deactivateUser: 'UserIdInput!',
        grantAdmin: 'UserIdInput!',
        revokeAdmin: 'UserIdInput!',
        resetUserIdentity: 'UserIdInput!',
        eraseUser: 'UserIdInput!',
        revokeUserSessions: 'UserIdInput!',
      };
      expect([field.name, ...field.args.map(({ name, type }) => `${name}: ${String(type)}`)]).toEqual([
        field.name,
        `input: ${shared[field.name] ?? expected}`,
      ]);
    }
  });

  it('pages every list that grows: only short ones are plain lists', () => {
    const plain = Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type) && !/^__|Edge$|Connection$/.test(type.name))
      .flatMap((type) =>
        Object.values((type as { getFields(): Record<string, GraphQLField<unknown, unknown>> }).getFields())
          .filter((field) => isListType(getNullableType(field.type)) && isObjectType(getNamedType(field.type)))
          .map((field) => `${type.name}.${field.name}`),
      );
    expect(plain.sort()).toEqual([
      'ApiKey.bindings',
      'Column.facts',
      'Datasource.lakeTables',
      'DatasourceGrantsPayload.grants',
      'Execution.nodeStats',
      'ImportLakeTablesPayload.alreadyRegistered',
      'ImportLakeTablesPayload.registered',
      'ImportedPipelinePayload.warnings',
      'ImportedTemplatesPayload.templates',
      'Pipeline.endpoints',
      'PipelineChecksPayload.runs',
      'PipelineLevel.folders',
      'PipelinePayload.warnings',
      'PipelineVersion.checks',
      'PipelineVersion.nodes',
      'PipelineVersion.parameters',
      'PipelineVersion.pinnedTemplates',
      'Probe.schema',
      'PromotePayload.endpoints',
      'PromotePayload.pipelines',
      'PromotePayload.templates',
      'PublishedEndpoint.bindings',
      'Query.datasourceColumns',
      'Query.datasourceGrants',
      'Query.sessions',
      'ReferenceList.references',
      'ResultPage.schema',
      'System.instances',
      'SystemInstance.jobs',
      'Table.facts',
      'TableList.tables',
      'TemplateLevel.folders',
      'TemplatePayload.warnings',
      'TemplateVersion.imports',
      'User.memberships',
      'ValidationReport.failures',
      'ValidationReport.warnings',
      'Viewer.memberships',
    ]);
  });

  it('shows no secret: no output type has a hash of a credential or a ciphertext', () => {
    const outputs = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type));
    const suspicious = outputs.flatMap((type) =>
      Object.keys(type.getFields())
        .filter((name) => /secret|password|token|cipher|encrypted|keyHash/i.test(name))
        .map((name) => `${type.name}.${name}`),
    );
    expect(suspicious.sort()).toEqual([
      'CreatedApiKeyPayload.secret',
      'Datasource.passwordSet',
      'MintedUserPayload.oneTimePassword',
      'Mutation.disableLocalPassword',
      'Mutation.resetPassword',
      'User.hasPassword',
      'User.mustChangePassword',
      'User.passwordChangedAt',
    ]);
  });
});

describe('the saved examples of the console', () => {
  const limits = {
    documentBytes: 65_536,
    tokens: 4000,
    depth: 10,
    aliases: 15,
    rootFields: 20,
    cost: 1000,
    pageMax: 200,
    introspection: true,
  };

  it('are valid and within the limits, for a first visitor presses the button', async () => {
    const { examples } = (await import(EXAMPLES.href)) as { examples: { query: string; variables?: string }[] };
    const gate = new OperationGate(schema, limits);
    expect(examples.length).toBeGreaterThan(2);
    for (const { query, variables } of examples) {
      expect(validate(schema, parse(query)).map(({ message }) => message)).toEqual([]);
      const verdict = gate.judge({ query, variables: JSON.parse(variables ?? '{}') as Record<string, unknown> });
      expect('refused' in verdict && verdict.refused.map(({ message }) => message)).toBe(false);
    }
  });
});
