import { readFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { DEFAULT_WORKSPACE_ID, SystemActor } from '#libs/identity';
import {
  Configuration,
  isJsonObject,
  Logger,
  newId,
  PenstockError,
  readJsonBytes,
  type ActingWorkspace,
  type JsonObject,
  type JsonValue,
} from '#libs/kernel';
import { Database } from '#libs/persistence';
import { PipelineCatalog } from '../pipeline-catalog.js';
import { readPipelineFile } from './pipeline-file.js';
import { PipelineTransfer } from './pipeline-transfer.js';

const KEY = 'datapipelines.bootstrap.examples-file';

/**
 * Pipelines an operator wants to be there from the first start (contract 03 §11): one export, or a list of them, landed
 * in the workspace `default` by the rules of an import. A pipeline whose name is there already is left as it is, so
 * what people made of an example stays theirs.
 */
@Injectable()
export class ExampleFile {
  readonly #path: string | undefined;
  readonly #log: Logger;

  constructor(
    configuration: Configuration,
    logger: Logger,
    private readonly database: Database,
    private readonly catalog: PipelineCatalog,
    private readonly transfer: PipelineTransfer,
    private readonly actor: SystemActor,
  ) {
    this.#path = configuration.get(KEY);
    this.#log = logger.child('pipelines.examples');
  }

  /**
   * Call once before anything is served; without a file it does nothing. Returns the names that were brought.
   * @throws PenstockError naming the file's key and the entry; the boot stops on it
   */
  async bring(): Promise<string[]> {
    if (this.#path === undefined) return [];
    const entries = await read(this.#path);
    const workspace = await this.#workspace();
    if (!workspace) {
      this.#log.warn('The examples were not brought: the workspace "default" is not active.');
      return [];
    }
    const brought: string[] = [];
    for (const [index, entry] of entries.entries()) {
      const name = await this.#land(workspace, entry, index);
      if (name !== undefined) brought.push(name);
    }
    if (brought.length > 0) this.#log.info('Examples were brought.', { pipelines: brought });
    return brought;
  }

  async #land(workspace: ActingWorkspace, entry: JsonObject, index: number): Promise<string | undefined> {
    const name = readPipelineFile(entry).file.body['name'];
    const present = async (): Promise<boolean> =>
      typeof name === 'string' && (await this.catalog.idOf(workspace.id, name)) !== undefined;
    if (await present()) return undefined;
    try {
      const principal = await this.actor.principal(newId(), workspace);
      await this.transfer.import(principal, entry);
      return typeof name === 'string' ? name : '';
    } catch (error) {
      // Another instance that starts beside this one may have landed it meanwhile.
      if (await present()) return undefined;
      if (!(error instanceof PenstockError)) throw error;
      throw new PenstockError(error.code, {
        message: `${KEY}: entry ${index} cannot be imported. ${error.message}`,
        details: error.details,
        cause: error,
      });
    }
  }

  async #workspace(): Promise<ActingWorkspace | undefined> {
    const [row] = await this.database.query<{ name: string }>(
      'SELECT name FROM workspaces WHERE id = $1 AND is_deleted = FALSE AND deactivated_at IS NULL',
      [DEFAULT_WORKSPACE_ID],
    );
    return (
      row && {
        id: DEFAULT_WORKSPACE_ID,
        name: row.name,
        flags: { author: true, promoter: true, admin: true },
        superAdmin: true,
        implicit: false,
      }
    );
  }
}

async function read(path: string): Promise<JsonObject[]> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    throw refused('The file cannot be read.', cause);
  }
  let sent: JsonValue;
  try {
    sent = readJsonBytes(bytes, { field: KEY });
  } catch (cause) {
    throw refused('The file is no JSON.', cause);
  }
  const entries: readonly JsonValue[] = Array.isArray(sent) ? sent : [sent];
  if (entries.every(isJsonObject)) return [...entries];
  throw refused('The file holds one exported pipeline, or a list of them.');
}

function refused(why: string, cause?: unknown): PenstockError {
  return new PenstockError('pipeline.execution.invalid_parameter_type', {
    message: `${KEY}: ${why}`,
    details: { field: KEY, reason: 'file' },
    cause,
  });
}
