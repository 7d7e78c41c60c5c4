import { Module } from '@nestjs/common';
import { AuditLog } from './audit-log.js';
import { AuditObserver } from './audit-observer.js';
import { AuditRepository } from './audit.repository.js';

const parts = [AuditLog, AuditObserver, AuditRepository];

/** The audit trail. Needs `Database` and `Logger` of the infrastructure. */
@Module({ providers: parts, exports: parts })
export class AuditModule {}
