import { Injectable } from '@nestjs/common';
import { AuditLog } from '#libs/audit';
import { EndpointTransfer, type PlacedEndpoint } from '#libs/endpoints';
import { AccessTrail, authorise, WorkspaceDirectory } from '#libs/identity';
import {
  Configuration,
  isPenstockError,
  Logger,
  PenstockError,
  type ActingWorkspace,
  type JsonObject,
  type Principal,
} from '#libs/kernel';
import { Database, type Transaction } from '#libs/persistence';
import { PipelineBatch } from '#libs/pipelines';
import { postureOf, versionedTransaction } from '#libs/templates';
import { readPushBody, type PushBody } from './push-body.js';

/** What became of a version that was pushed; `imported` is false when it stood here already. */
export interface ReceivedVersion {
  name: string;
  version: number;
  imported: boolean;
}

export interface PushReport {
  workspace: string;
  templates: readonly ReceivedVersion[];
  /** `switched`: it became the current version now. */
  pipelines: readonly (ReceivedVersion & { switched: boolean })[];
  endpoints: readonly PlacedEndpoint[];
}

/** How a push came in: for its audit rows. */
export interface PushFacts {
  /** SHA-256 of the key that was presented. */
  keyFingerprint: string;
  path: string;
}

/** First half of the advisory lock under which pushes into one workspace follow each other. */
const PUSH_LOCK = 0x7075_7368;

/** Takes what another deployment promotes: the whole of it, or nothing (contract 05 §13). */
@Injectable()
export class PromotionReceiver {
  constructor(
    private readonly database: Database,
    private readonly configuration: Configuration,
    private readonly workspaces: WorkspaceDirectory,
    private readonly batch: PipelineBatch,
    private readonly endpoints: EndpointTransfer,
    private readonly audit: AuditLog,
    private readonly trail: AccessTrail,
    private readonly logger: Logger,
  ) {}

  /**
   * Judges everything, checks on the datasources of this deployment included, before the one transaction that stores it.
   * A sender that is gone meanwhile is not waited for: what it pushed is stored all the same, and its next push finds it.
   *
   * @throws what refuses; nothing is stored then, and the trail says why
   */
  async push(principal: Principal, sent: JsonObject, facts: PushFacts): Promise<PushReport> {
    const told: { sourceEnv?: string; workspace?: ActingWorkspace } = {};
    try {
      const body = readPushBody(sent);
      told.sourceEnv = body.sourceEnv;
      const addressed = await this.workspaces.addressed(principal, body.workspace);
      told.workspace = authorise(principal, 'promotion.receive', addressed);
      return await this.#take(principal, told.workspace, body, facts);
    } catch (error) {
      await this.trail.promotionRejected(
        { ...principal, ...told },
        {
          path: facts.path,
          reason: isPenstockError(error) ? error.code : 'internal',
          source_env: told.sourceEnv,
          key_fingerprint: facts.keyFingerprint,
        },
      );
      throw error;
    }
  }

  async #take(principal: Principal, workspace: ActingWorkspace, body: PushBody, facts: PushFacts): Promise<PushReport> {
    this.#refuseWhereAuthored(principal);
    const batch = await this.batch.read(body);
    const endpoints = this.endpoints.read('endpoints', body.endpoints);
    await this.endpoints.requireKeys(this.database, workspace.id, endpoints);
    const judged = await this.batch.judge(principal, workspace, batch);
    return versionedTransaction(this.database, 'pipeline', async (tx) => {
      await oneAtATime(tx, workspace.id);
      const stored = await this.batch.store(tx, workspace, principal, judged);
      const report: PushReport = {
        workspace: workspace.name,
        templates: stored.templates.map(({ id: name, version, imported }) => ({ name, version, imported })),
        pipelines: stored.pipelines.map(({ name, version, imported, switched }) => ({
          name,
          version,
          imported,
          switched,
        })),
        endpoints: await this.endpoints.store(tx, workspace, principal, endpoints),
      };
      await this.audit.append(tx, { ...principal, workspace }, 'auth.promotion.accepted', {
        source_env: body.sourceEnv,
        key_fingerprint: facts.keyFingerprint,
        counts: countsOf(report),
      });
      return report;
    });
  }

  /** Where people write, a push could take the number of somebody's draft. */
  #refuseWhereAuthored({ correlationId }: Principal): void {
    if (!postureOf(this.configuration).authoringEnabled) return;
    this.logger.warn(
      'A promotion arrived, but authoring is enabled here: switch it off where promotions are received.',
      {
        event: 'promotion.refused_where_authored',
        correlation_id: correlationId,
      },
    );
    throw new PenstockError('pipeline.promotion.target_is_authoring');
  }
}

/** Two pushes into a workspace land one after the other, so that the second finds what the first brought. */
async function oneAtATime(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.execute('SELECT pg_advisory_xact_lock($1::int, hashtext($2))', [PUSH_LOCK, workspaceId]);
}

function countsOf({ templates, pipelines, endpoints }: PushReport): Record<string, number> {
  const imported = [...templates, ...pipelines].filter((each) => each.imported).length;
  return {
    templates: templates.length,
    pipelines: pipelines.length,
    endpoints: endpoints.length,
    skipped: templates.length + pipelines.length - imported,
  };
}
