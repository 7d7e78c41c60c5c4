import { Injectable } from '@nestjs/common';
import type { ColumnView, DatasourceView, GrantView } from '#libs/datasources';
import type { FactsOf } from '#libs/semantics';
import type { Dialect } from '#libs/typesystem';
import { WorkspaceService, type WorkspaceView } from '#libs/workspaces';
import { Batch } from '../engine/batch.js';
import type { Lazy } from '../engine/lazy.js';
import { Actors } from '../identity/actor.js';
import type { ColumnType } from '../executions/execution.types.js';
import { WorkspaceNodes } from '../workspaces/workspace-nodes.js';
import type { WorkspaceType } from '../workspaces/workspace.types.js';
import type { DatasourceGrantType, DatasourceType } from './datasource.types.js';

/** Makes datasources of what the services give. */
@Injectable()
export class DatasourceNodes {
  /** Workspaces by name; one that cannot be seen is absent. */
  readonly #owners: Batch<string, WorkspaceView>;

  constructor(
    private readonly actors: Actors,
    private readonly workspaceNodes: WorkspaceNodes,
    workspaces: WorkspaceService,
  ) {
    this.#owners = new Batch((principal, names) => workspaces.named(principal, names));
  }

  datasource(view: DatasourceView): DatasourceType {
    const { last_test: test } = view;
    return {
      id: view.name,
      name: view.name,
      displayName: view.display_name,
      description: view.description,
      dialect: view.dialect as Dialect,
      jdbcUrl: view.jdbc_url,
      username: view.username,
      credentialKind: view.credential.kind,
      passwordSet: view.password_set,
      properties: view.properties,
      pool: view.pool,
      queryTimeoutSeconds: view.query_timeout_seconds,
      introspectionIncludeSchemas: view.introspection_include_schemas ?? [],
      ownerWorkspace: view.workspace === null ? () => null : this.#workspace(view.workspace),
      isReadonly: view.readonly,
      lastTest: test && { testedAt: test.tested_at, ok: test.ok, message: test.message },
      createdBy: this.actors.of(view.created_by),
      createdAt: view.created_at,
      updatedAt: view.updated_at,
    };
  }

  grant(view: GrantView): DatasourceGrantType {
    return {
      workspace: this.#workspace(view.workspace),
      grantedBy: this.actors.of(view.granted_by),
      grantedAt: view.granted_at,
    };
  }

  column({ item, facts }: FactsOf<ColumnView>): ColumnType {
    const { source_type, primary_key, warnings: _warnings, ...column } = item;
    return { ...column, sourceType: source_type, primaryKey: primary_key, learned: facts };
  }

  #workspace(name: string): Lazy<WorkspaceType | null> {
    return async (_args, context) => {
      const view = await context.load(this.#owners, name);
      return view ? this.workspaceNodes.workspace(view) : null;
    };
  }
}
