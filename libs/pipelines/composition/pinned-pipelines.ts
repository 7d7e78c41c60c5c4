import { Injectable } from '@nestjs/common';
import { CALCULATORS } from '#libs/calculators';
import { isJsonObject, readJson, writeJson, type JsonObject } from '#libs/kernel';
import type { VersionStatus } from '#libs/lifecycle';
import { Database, type Queryable, type Transaction } from '#libs/persistence';
import type { ColumnType } from '#libs/typesystem';
import { storedCalculatorKeys } from '../document/execute-inputs.js';
import { Notes } from '../document/notes.js';
import { integerToken, ObjectReader } from '../document/object-reader.js';
import { declaredType, type PipelineRef } from '../document/pipeline-document.js';
import { readParameters } from '../document/read-parameters.js';

/** What a parent may supply to a child, by key. */
export interface ChildKey {
  /** Undefined, of a calculator only: any scalar. */
  type: ColumnType | undefined;
  /** Without a value the child does not start. */
  required: boolean;
  /** Node that computes the key when it is not given; of a declared parameter undefined. */
  calculator?: string;
}

/** A pinned version as a composition sees it: its shape, without its SQL. */
export interface PinnedPipeline extends PipelineRef {
  /** Null: the pipeline has no such version. */
  status: VersionStatus | null;
  /** Whether any version is a DRAFT or RELEASED. */
  live: boolean;
  nodeCount: number;
  hasCaller: boolean;
  /** Source or target of the first node that is not a mere read. */
  writesTo: string | null;
  /** Versions it pins itself, one entry per node. */
  children: readonly PipelineRef[];
  keys: ReadonlyMap<string, ChildKey>;
}

/** A live version that pins another pipeline. */
export interface PipelinePin {
  pipeline: string;
  pipeline_id: string;
  node_id: string;
  pipeline_version: number;
  pipeline_version_status: VersionStatus;
  pinned_version: number;
}

interface PinnedRow {
  name: string;
  version: string;
  status: VersionStatus | null;
  live: boolean;
  nodeCount: number | null;
  hasCaller: boolean;
  writesTo: string | null;
  children: string | null;
  parameters: string | null;
  calculators: string | null;
}

/** Inputs that say what type a calculator's output has; of the others only the child itself needs to know. */
const TYPING_INPUTS = [
  ...new Set(CALCULATORS.flatMap(({ outputs }) => outputs.flatMap(({ scaleFrom }) => scaleFrom ?? []))),
];

const NODES = `jsonb_array_elements(v.body_json->'nodes') AS n`;

/** What a composition wants to know of a body, `v.body_json`; `inputs` is the placeholder of {@link TYPING_INPUTS}. */
const shapeOf = (inputs: string): string => `
  jsonb_array_length(v.body_json->'nodes') AS "nodeCount",
  EXISTS (SELECT FROM ${NODES}
           WHERE n->'output'->>'target' = 'caller'
              OR (n->>'type' = 'DQL' AND n->'output' IS NULL)) AS "hasCaller",
  (SELECT COALESCE(n->'output'->>'datasource', n->>'source') FROM ${NODES}
    WHERE n->>'type' IN ('DML', 'DDL') OR n->'output'->>'target' = 'datasource' LIMIT 1) AS "writesTo",
  (SELECT jsonb_agg(n->'pipeline') FROM ${NODES} WHERE n->>'type' = 'PIPELINE') AS children,
  (SELECT jsonb_object_agg(d.key, d.value - 'description' - 'default')
     FROM jsonb_each(v.body_json->'parameters') AS d) AS parameters,
  (SELECT jsonb_agg(n - '{inputs,description,depends_on}'::text[] || jsonb_build_object('inputs',
            (SELECT jsonb_object_agg(i.key, i.value) FROM jsonb_each(n->'inputs') AS i WHERE i.key = ANY(${inputs}))))
     FROM ${NODES} WHERE n->>'type' = 'CALCULATOR') AS calculators`;

export function pipelineKey({ name, version }: PipelineRef): string {
  return `${name}@${version}`;
}

/** Pinned child versions, read for composition rules (contract 01 §8). Authorises nothing: its callers did. */
@Injectable()
export class PinnedPipelines {
  constructor(private readonly database: Database) {}

  /** By `pipelineKey`, in one statement; a pipeline the workspace does not have is absent. */
  async lookup(
    workspaceId: string,
    refs: readonly PipelineRef[],
    q: Queryable = this.database,
  ): Promise<Map<string, PinnedPipeline>> {
    if (refs.length === 0) return new Map();
    const rows = await q.query<PinnedRow>(
      `SELECT r.name, r.version, v.status,
              EXISTS (SELECT FROM pipeline_versions s WHERE s.pipeline_id = p.id AND s.status <> 'DISCARDED') AS live,
              ${shapeOf('$4')}
         FROM unnest($2::text[], $3::bigint[]) AS r(name, version)
         JOIN pipelines p ON p.workspace_id = $1 AND p.name = r.name
         LEFT JOIN pipeline_versions v ON v.pipeline_id = p.id AND v.version = r.version`,
      [workspaceId, refs.map(({ name }) => name), refs.map(({ version }) => version), TYPING_INPUTS],
    );
    return new Map(rows.map(pinned).map((found) => [pipelineKey(found), found]));
  }

  /** As {@link lookup}, of bodies that an import or a promotion brings: released as soon as they are stored. */
  async shapes(
    offered: readonly (PipelineRef & { body: JsonObject })[],
    q: Queryable = this.database,
  ): Promise<Map<string, PinnedPipeline>> {
    if (offered.length === 0) return new Map();
    const rows = await q.query<PinnedRow>(
      `SELECT v.name, v.version, 'RELEASED' AS status, TRUE AS live,
              ${shapeOf('$4')}
         FROM (SELECT o.name, o.version, o.body::jsonb AS body_json
                 FROM unnest($1::text[], $2::bigint[], $3::text[]) AS o(name, version, body)) AS v`,
      [
        offered.map(({ name }) => name),
        offered.map(({ version }) => version),
        offered.map(({ body }) => writeJson(body)),
        TYPING_INPUTS,
      ],
    );
    return new Map(rows.map(pinned).map((found) => [pipelineKey(found), found]));
  }

  /** Holds versions against discard and purge until the transaction ends; their status by `pipelineKey`. */
  async hold(tx: Transaction, workspaceId: string, refs: readonly PipelineRef[]): Promise<Map<string, VersionStatus>> {
    if (refs.length === 0) return new Map();
    const rows = await tx.query<{ name: string; version: number; status: VersionStatus }>(
      `SELECT p.name, v.version, v.status
         FROM pipelines p JOIN pipeline_versions v ON v.pipeline_id = p.id
        WHERE p.workspace_id = $1 AND (p.name, v.version) IN (SELECT * FROM unnest($2::text[], $3::bigint[]))
        ORDER BY v.pipeline_id, v.version FOR SHARE OF v`,
      [workspaceId, refs.map(({ name }) => name), refs.map(({ version }) => version)],
    );
    return new Map(rows.map(({ name, version, status }) => [pipelineKey({ name, version }), status]));
  }

  /** Who pins a version of a pipeline, or any of its versions: drafts and releases, or discarded ones too. */
  async pinsOf(
    tx: Queryable,
    workspaceId: string,
    name: string,
    version?: number,
    options: { discardedToo?: boolean } = {},
  ): Promise<PipelinePin[]> {
    const pin = version === undefined ? { name } : { name, version };
    return tx.query<PipelinePin>(
      `SELECT p.name AS pipeline, p.id AS pipeline_id, n->>'id' AS node_id, v.version AS pipeline_version,
              v.status AS pipeline_version_status, (n->'pipeline'->>'version')::int AS pinned_version
         FROM pipeline_versions v
         JOIN pipelines p ON p.id = v.pipeline_id
        CROSS JOIN LATERAL ${NODES}
        WHERE v.body_json @> $2::jsonb AND p.workspace_id = $1 AND n->'pipeline' @> $3::jsonb
          AND (v.status <> 'DISCARDED' OR $4)
        ORDER BY p.name COLLATE "C", v.version, n->>'id'`,
      [workspaceId, writeJson({ nodes: [{ pipeline: pin }] }), writeJson(pin), options.discardedToo ?? false],
    );
  }
}

function pinned(row: PinnedRow): PinnedPipeline {
  return {
    name: row.name,
    version: Number(row.version),
    status: row.status,
    live: row.live,
    nodeCount: row.nodeCount ?? 0,
    hasCaller: row.hasCaller,
    writesTo: row.writesTo,
    children: childrenOf(row.children),
    keys: new Map([...parameterKeys(row.parameters), ...calculatorKeys(row.calculators)]),
  };
}

function childrenOf(pins: string | null): PipelineRef[] {
  const list = pins === null ? [] : readJson(pins);
  if (!Array.isArray(list)) return [];
  return list.flatMap((pin) => {
    if (!isJsonObject(pin) || typeof pin.name !== 'string') return [];
    const version = integerToken(pin.version);
    return version === undefined ? [] : [{ name: pin.name, version }];
  });
}

/** Stored declarations have passed the rules; read again, they complain of nothing. */
function parameterKeys(parameters: string | null): Map<string, ChildKey> {
  const tree = parameters === null ? undefined : readJson(parameters);
  if (!isJsonObject(tree)) return new Map();
  const reader = new ObjectReader('', { parameters: tree } as JsonObject, new Notes());
  return new Map(
    [...readParameters(reader)].map(([key, declaration]): [string, ChildKey] => [
      key,
      { type: declaredType(declaration), required: declaration.required },
    ]),
  );
}

function calculatorKeys(nodes: string | null): [string, ChildKey][] {
  return storedCalculatorKeys(nodes === null ? undefined : readJson(nodes)).map(({ key, type, node }) => [
    key,
    { type, required: false, calculator: node },
  ]);
}
