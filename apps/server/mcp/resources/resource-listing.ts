import { Injectable } from '@nestjs/common';
import { DatasourceService } from '#libs/datasources';
import { ExecutionService } from '#libs/executions';
import {
  Clock,
  isPenstockError,
  isJsonObject,
  readJson,
  writeJson,
  type KeysetPage,
  type Principal,
} from '#libs/kernel';
import { PipelineReading } from '#libs/pipelines';
import { TemplateReading } from '#libs/templates';
import { DOC_PAGES } from '../docs/doc-pages.js';
import { invalidParams } from '../protocol/rpc-error.js';
import { SCHEME, templateUri } from './resource-uri.js';

export interface ListedResource {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType: string;
}

export interface ResourcePage {
  resources: ListedResource[];
  nextCursor?: string;
}

/** Entries of a page (06 §12). */
const PAGE = 100;
const DAY_MS = 24 * 60 * 60 * 1000;
const JSON_TYPE = 'application/json';

/** One part of the list: a page of it, and whether there is more behind a place. */
interface Part {
  entries: { resource: ListedResource; place: string }[];
  more: boolean;
}

/** The resources a reader sees, in pages: documentation, pipelines, templates, datasources, runs of the last day. */
@Injectable()
export class ResourceListing {
  readonly #parts: readonly ((principal: Principal, page: KeysetPage) => Promise<Part>)[];

  constructor(
    pipelines: PipelineReading,
    templates: TemplateReading,
    datasources: DatasourceService,
    executions: ExecutionService,
    clock: Clock,
  ) {
    this.#parts = [
      (_principal, page) => Promise.resolve(docs(page)),
      async (principal, page) => {
        const { items, hasNext } = await pipelines.list(principal, {}, page);
        return part(items, hasNext, ({ id, name, display_name, description }) => [
          name,
          { uri: `${SCHEME}pipelines/${id}`, name, title: display_name, description, mimeType: JSON_TYPE },
        ]);
      },
      async (principal, page) => {
        const { items, hasNext } = await templates.list(principal, {}, page);
        return part(items, hasNext, ({ id, display_name, description }) => [
          id,
          { uri: templateUri(id), name: id, title: display_name, description, mimeType: JSON_TYPE },
        ]);
      },
      async (principal, page) => {
        const { items, hasNext } = await datasources.list(principal, {}, page);
        const found = part(items, hasNext, ({ name, display_name, dialect }) => [
          name,
          {
            uri: `${SCHEME}datasources/${encodeURIComponent(name)}`,
            name,
            title: display_name,
            description: dialect,
            mimeType: JSON_TYPE,
          },
        ]);
        if (page.after === undefined) {
          const all = {
            uri: `${SCHEME}datasources`,
            name: 'datasources',
            title: 'All datasources',
            mimeType: JSON_TYPE,
          };
          found.entries.unshift({ resource: all, place: '' });
        }
        return found;
      },
      async (principal, page) => {
        const startedAfter = new Date(clock.now().getTime() - DAY_MS).toISOString();
        const { items, hasNext } = await executions.list(principal, { startedAfter }, page);
        return part(items, hasNext, ({ execution, cursor }) => [
          cursor,
          {
            uri: `${SCHEME}executions/${execution.execution_id}`,
            name: execution.execution_id,
            title: `Run of ${execution.started_at}`,
            description: execution.status,
            mimeType: JSON_TYPE,
          },
        ]);
      },
    ];
  }

  /** @throws RpcError −32602 for a cursor that is none of this list */
  async page(principal: Principal, cursor: string | undefined): Promise<ResourcePage> {
    let { at, after } = cursor === undefined ? { at: 0, after: undefined } : this.#place(cursor);
    const resources: ListedResource[] = [];
    for (; at < this.#parts.length; at++, after = undefined) {
      const { entries, more } = await this.#part(principal, at, { first: PAGE - resources.length, after });
      const taken = entries.slice(0, PAGE - resources.length);
      resources.push(...taken.map(({ resource }) => resource));
      const last = taken.at(-1)?.place;
      if (last !== undefined && (more || taken.length < entries.length)) {
        return { resources, nextCursor: cursorOf(at, last) };
      }
      if (resources.length === PAGE) return this.#full(resources, at + 1);
    }
    return { resources };
  }

  /** A page that ended with its part: the next begins with the next part. */
  #full(resources: ListedResource[], next: number): ResourcePage {
    return next < this.#parts.length ? { resources, nextCursor: cursorOf(next, undefined) } : { resources };
  }

  /** What the reader may not list is not there. */
  async #part(principal: Principal, at: number, page: KeysetPage): Promise<Part> {
    try {
      return await this.#parts[at]!(principal, page);
    } catch (error) {
      if (!isPenstockError(error)) throw error;
      if (error.code === 'graphql.cursor_invalid') throw badCursor();
      if (error.status !== 403) throw error;
      return { entries: [], more: false };
    }
  }

  #place(cursor: string): { at: number; after: string | undefined } {
    try {
      const read = readJson(Buffer.from(cursor, 'base64url').toString('utf8'));
      if (isJsonObject(read)) {
        const at = Number(String(read['at']));
        const after = read['after'];
        const known = Number.isInteger(at) && at >= 0 && at < this.#parts.length;
        if (known && (after === undefined || typeof after === 'string')) return { at, after };
      }
    } catch (error) {
      if (!isPenstockError(error)) throw error;
    }
    throw badCursor();
  }
}

function badCursor() {
  return invalidParams('“cursor” is none of this list. Send the nextCursor of the page before, or none.');
}

function cursorOf(at: number, after: string | undefined): string {
  return Buffer.from(writeJson({ at, after })).toString('base64url');
}

function part<T>(
  items: readonly T[],
  more: boolean,
  entry: (item: T) => [place: string, resource: ListedResource],
): Part {
  return {
    entries: items.map((item) => {
      const [place, resource] = entry(item);
      return { place, resource };
    }),
    more,
  };
}

function docs({ after }: KeysetPage): Part {
  const begin = after === undefined ? 0 : DOC_PAGES.findIndex(({ name }) => name === after) + 1;
  const entries = DOC_PAGES.slice(begin).map(({ name, title, purpose }) => ({
    place: name,
    resource: {
      uri: `${SCHEME}docs/skill${name === 'skill' ? '' : `/${name}`}`,
      name,
      title,
      description: purpose,
      mimeType: 'text/markdown',
    },
  }));
  return { entries, more: false };
}
