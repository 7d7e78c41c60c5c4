import { Injectable } from '@nestjs/common';
import { KeyBindingWriter, workspaceOf } from '#libs/identity';
import type { Principal } from '#libs/kernel';
import type { Transaction } from '#libs/persistence';
import { PublishedEndpointReferences } from '#libs/pipelines';
import { KeyBindingService } from './key-binding.service.js';

/** Binds a key in the transaction that mints it; what identity asks of the families above it. */
@Injectable()
export class EndpointKeyBindingWriter extends KeyBindingWriter {
  constructor(private readonly bindings: KeyBindingService) {
    super();
  }

  override async bind(
    tx: Transaction,
    principal: Principal,
    keyId: string,
    prefixes: readonly string[],
  ): Promise<void> {
    const workspace = workspaceOf(principal);
    for (const prefix of prefixes) await this.bindings.bindInTransaction(tx, principal, workspace, keyId, prefix);
  }
}

/** Which paths name a pipeline; what pipelines ask before a purge. */
@Injectable()
export class EndpointReferences extends PublishedEndpointReferences {
  override async namesFor(tx: Transaction, pipelineId: string): Promise<string[]> {
    const rows = await tx.query<{ path: string }>(
      'SELECT path_pattern AS path FROM published_endpoints WHERE pipeline_id = $1 ORDER BY 1',
      [pipelineId],
    );
    return rows.map(({ path }) => path);
  }
}
