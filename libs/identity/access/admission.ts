import { Injectable } from '@nestjs/common';
import type { ActingWorkspace, Principal } from '#libs/kernel';
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
      await this.trail.denied(principal, operation, error);
      throw error;
    }
    await this.trail.superAdminActing(principal, operation, request.path, request.method);
    return workspace;
  }

  /**
   * Does what an admitted operation asks for. What depends on arguments and rows is judged in there, and its refusals
   * leave the row that those of the door leave (contract 04 §10).
   *
   * @throws what `work` throws
   */
  async carryOut<T>(principal: Principal, operation: string, work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      return this.#told(principal, operation, error);
    }
  }

  /** As {@link carryOut}, for work that is under way: of many small ones, where each step counts. */
  carriedOut<T>(principal: Principal, operation: string, work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => this.#told(principal, operation, error));
  }

  async #told(principal: Principal, operation: string, error: unknown): Promise<never> {
    await this.trail.denied(principal, operation, error);
    throw error;
  }
}
