import { Args, Context, Query, Resolver } from '@nestjs/graphql';
import type { Principal } from '#libs/kernel';
import { AuditReader, type AuditEventView, type AuditQuery } from '#libs/workspaces';
import { Actors } from '../identity/actor.js';
import { PageArgs, toConnection, type Connection } from '../paging/connection.js';
import { Cursors } from '../paging/cursor.js';
import { RootField } from '../schema/root-field.js';
import { AuditEventConnection, AuditFilterInput, type AuditEventType } from './audit.types.js';

/** The trail of a workspace, or with `instance` of the instance, newest first. */
@Resolver()
export class AuditResolver {
  constructor(
    private readonly reader: AuditReader,
    private readonly actors: Actors,
  ) {}

  @Query(() => AuditEventConnection, { description: 'The audit log of the active workspace, newest first.' })
  @RootField('audit.read')
  async auditEvents(
    @Context('principal') caller: Principal,
    @Args() page: PageArgs,
    @Args('filter', {
      type: () => AuditFilterInput,
      nullable: true,
      description: 'Narrows the log; left out: all of it.',
    })
    given?: AuditFilterInput | null,
    @Args('instance', {
      type: () => Boolean,
      nullable: true,
      description: 'Whether events of the whole deployment are given, for super administrators; default false.',
    })
    instance?: boolean | null,
  ): Promise<Connection<AuditEventType>> {
    const query = queryOf(given, instance);
    const cursors = new Cursors('auditEvents', query);
    return toConnection(await this.reader.list(caller, query, cursors.page(page)), {
      cursors,
      keyOf: ({ cursor }) => cursor,
      nodeOf: (view) => this.#node(view),
      count: () => this.reader.count(caller, query),
    });
  }

  #node(view: AuditEventView): AuditEventType {
    return {
      id: view.id,
      timestamp: view.timestamp,
      event: view.event,
      actor: view.user_id === null ? null : this.actors.of(view.user_id),
      keyId: view.key_id,
      sourceIp: view.source_ip,
      userAgent: view.user_agent,
      details: view.details,
    };
  }
}

function queryOf(given: AuditFilterInput | null | undefined, instance: boolean | null | undefined): AuditQuery {
  return {
    event: given?.event ?? undefined,
    user_id: given?.userId ?? undefined,
    key_id: given?.keyId ?? undefined,
    from: given?.from ?? undefined,
    to: given?.to ?? undefined,
    instance: instance ?? false,
  };
}
