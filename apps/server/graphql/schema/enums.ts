import { registerEnumType } from '@nestjs/graphql';
import { FACT_KINDS, FACT_SCOPES, FACT_TRUSTS } from '#libs/semantics';

/** Wire words as enum values: GraphQL spells them in upper case, resolvers see them as they are (03 §9). */
function wireEnum<const W extends string>(name: string, words: readonly W[]): Record<string, W> {
  const values = Object.fromEntries(words.map((word) => [word.toUpperCase(), word]));
  registerEnumType(values, { name });
  return values;
}

export const VersionStatusEnum = wireEnum('VersionStatus', ['DRAFT', 'RELEASED', 'DISCARDED']);
export const EntityStatusEnum = wireEnum('EntityStatus', ['ACTIVE', 'DISCARDED']);
export const ExecutionStatusEnum = wireEnum('ExecutionStatus', ['RUNNING', 'SUCCESS', 'FAILED', 'ABORTED']);
export const NodeStatusEnum = wireEnum('NodeStatus', ['RUNNING', 'SUCCESS', 'FAILED', 'ABORTED']);
export const ExecutionTriggerEnum = wireEnum('ExecutionTrigger', ['UI', 'REST', 'MCP', 'PIPELINE', 'ENDPOINT']);
export const NodeTypeEnum = wireEnum('NodeType', ['DQL', 'DML', 'DDL', 'PIPELINE', 'CALCULATOR']);
export const LogicalTypeEnum = wireEnum('LogicalType', [
  'NULL',
  'BOOLEAN',
  'INTEGER',
  'BIGINTEGER',
  'DECIMAL',
  'BIGDECIMAL',
  'STRING',
  'BINARY',
  'DATE',
  'TIME',
  'TIMESTAMP',
]);
export const DialectEnum = wireEnum('Dialect', [
  'POSTGRES',
  'ORACLE',
  'MSSQL',
  'MYSQL',
  'H2',
  'DUCKDB',
  'SQLITE',
  'LAKE',
]);
export const CredentialKindEnum = wireEnum('CredentialKind', [
  'password',
  'token',
  'private_key',
  'service_account_json',
  'none',
]);
export const ScopeEnum = wireEnum('Scope', ['read', 'execute', 'author']);
export const ApiKeyKindEnum = wireEnum('ApiKeyKind', ['user', 'endpoint', 'server']);
export const CapabilityEnum = wireEnum('Capability', [
  'view',
  'execute',
  'author',
  'switch',
  'promote',
  'ws_admin',
  'super_admin',
]);
export const LakeFormatEnum = wireEnum('LakeFormat', ['parquet', 'iceberg']);
export const WriteSurfaceEnum = wireEnum('WriteSurface', ['session', 'api_key', 'mcp']);

export const FactScopeEnum = wireEnum('FactScope', FACT_SCOPES);
export const FactKindEnum = wireEnum('FactKind', Object.keys(FACT_KINDS));
export const FactTrustEnum = wireEnum('FactTrust', FACT_TRUSTS);

export const CheckVerdictEnum = wireEnum('CheckVerdict', ['pass', 'fail', 'error']);
export const CheckViaEnum = wireEnum('CheckVia', ['mcp', 'rest', 'ui', 'release']);
export const MailKindEnum = wireEnum('MailKind', ['welcome', 'password_reset', 'new_user']);
export const MailStatusEnum = wireEnum('MailStatus', ['PENDING', 'SENT', 'FAILED']);

export const OrderDirectionEnum = wireEnum('OrderDirection', ['ASC', 'DESC']);
export const OrderFieldEnum = wireEnum('OrderField', ['name', 'created_at', 'updated_at']);
export const ExecutionOrderFieldEnum = wireEnum('ExecutionOrderField', ['started_at']);
