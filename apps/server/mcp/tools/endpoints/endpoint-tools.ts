import { Injectable } from '@nestjs/common';
import { EndpointService } from '#libs/endpoints';
import { Configuration } from '#libs/kernel';
import { everyEntry } from '../every-entry.js';
import { ListedEntries } from '../listed-entries.js';
import { serve, type ToolFamily } from '../tool.js';
import { ENDPOINT_TOOLS } from './endpoint-declarations.js';

/** Published endpoints. Keys are bound to them by people, over REST and GraphQL. */
@Injectable()
export class EndpointTools implements ToolFamily {
  readonly tools = [
    serve(ENDPOINT_TOOLS.create, ({ principal }, given) => this.endpoints.publish(principal, given)),
    serve(ENDPOINT_TOOLS.remove, async ({ principal }, { path }) => {
      await this.endpoints.unpublish(principal, path);
      return { path, deleted: true };
    }),
    serve(ENDPOINT_TOOLS.list, async ({ principal }) => {
      const { items, total } = await everyEntry(this.#most, {
        page: (page) => this.endpoints.list(principal, page),
        count: () => this.endpoints.count(principal),
        placeOf: ({ path }) => path,
      });
      return new ListedEntries(items, total, 'read one by its path with endpoints_get');
    }),
    serve(ENDPOINT_TOOLS.get, ({ principal }, { path }) => this.endpoints.read(principal, path)),
  ];
  readonly #most: number;

  constructor(
    private readonly endpoints: EndpointService,
    configuration: Configuration,
  ) {
    this.#most = configuration.get('datapipelines.web.page-max-limit');
  }
}
