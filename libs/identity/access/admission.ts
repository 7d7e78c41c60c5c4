import { Injectable } from '@nestjs/common';
import { PenstockError, type ActingWorkspace, type Principal } from '#libs/kernel';
import { authoriseRequest } from '../authorise.js';
import type { OperationId } from '../operations.js';
import { AccessTrail } from './access-trail.js';

/** The one question of every door before a handler, a root field or a tool runs; answers leave their audit rows. */
@Injectable()
export class Admission {
  constructor(private readonly trail: AccessTrail) {}

  /**
   * Judges an operation by the table. A refusal is audited, and so is every operation of a super admin in a workspace
   * that he is no member of (contract 04 §7.2, §10).
   *
   * @throws the refusals of {@link authoriseRequest}
   */
  async admit(
    principal: Principal,
    operation: OperationId,
    request: { path?: string; method?: string } = {},
  ): Promise<ActingWorkspace | undefined> {
    let workspace: ActingWorkspace | undefined;
    try {
      workspace = authoriseRequest(principal, operation);
    } catch (error) {
      if (error instanceof PenstockError) await this.trail.denied(principal, operation, error);
      throw error;
    }
    await this.trail.superAdminActing(principal, operation, request.path, request.method);
    return workspace;
  }
}
