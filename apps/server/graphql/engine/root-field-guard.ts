import { Injectable } from '@nestjs/common';
import { AccessTrail, authoriseRequest, type OperationId } from '#libs/identity';
import { isPenstockError, type Principal } from '#libs/kernel';

const PATH = '/graphql';

/** Judges root fields one by one by the same table that judges REST handlers (04 §8). */
@Injectable()
export class RootFieldGuard {
  constructor(private readonly trail: AccessTrail) {}

  async judge(principal: Principal, operation: OperationId): Promise<void> {
    try {
      authoriseRequest(principal, operation);
    } catch (error) {
      if (isPenstockError(error)) await this.trail.denied(principal, operation, error);
      throw error;
    }
    if (principal.workspace?.implicit) await this.trail.superAdminActing(principal, operation, PATH, 'POST');
  }
}
