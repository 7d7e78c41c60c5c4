import { Injectable } from '@nestjs/common';
import { Configuration } from '#libs/kernel';
import { FOLDER_PATH_PATTERN, MAX_PATH_CHARS } from '#libs/lifecycle';
import { Database } from '#libs/persistence';
import { postureOf } from '#libs/templates';

/** What is stored and makes a boot refuse, one sentence each; empty when the server may start. */
@Injectable()
export class ContentGate {
  constructor(
    private readonly database: Database,
    private readonly configuration: Configuration,
  ) {}

  /**
   * Template names outside the grammar (a name is checked again at each render, contract 05 §2), and drafts on a
   * deployment that only receives (§10). Every offender is named.
   */
  async problems(): Promise<string[]> {
    const { authoringEnabled } = postureOf(this.configuration);
    const [names, drafts] = await Promise.all([this.#illegalNames(), authoringEnabled ? [] : this.#drafts()]);
    return [
      ...names.map((name) => `The stored template name ${JSON.stringify(name)} is no folder path of 2 to 10 segments.`),
      ...drafts.map(
        (draft) => `Authoring is disabled here, but ${draft} is a draft: release or purge it where it was written.`,
      ),
    ];
  }

  async #illegalNames(): Promise<string[]> {
    const rows = await this.database.query<{ name: string }>(
      `SELECT name FROM templates WHERE name !~ $1 OR char_length(name) > $2 ORDER BY name COLLATE "C"`,
      [FOLDER_PATH_PATTERN, MAX_PATH_CHARS],
    );
    return rows.map(({ name }) => name);
  }

  async #drafts(): Promise<string[]> {
    const rows = await this.database.query<{ kind: string; name: string; version: number; workspace: string }>(
      `SELECT d.kind, d.name, d.version, w.name AS workspace FROM (
         SELECT 'pipeline' AS kind, e.name, v.version, e.workspace_id
           FROM pipeline_versions v JOIN pipelines e ON e.id = v.pipeline_id WHERE v.status = 'DRAFT'
         UNION ALL
         SELECT 'template', e.name, v.version, e.workspace_id
           FROM template_versions v JOIN templates e ON e.id = v.template_id WHERE v.status = 'DRAFT') AS d
         JOIN workspaces w ON w.id = d.workspace_id
        ORDER BY w.name, d.kind, d.name COLLATE "C"`,
    );
    return rows.map(
      ({ kind, name, version, workspace }) => `${kind} "${name}" version ${version} of workspace "${workspace}"`,
    );
  }
}
