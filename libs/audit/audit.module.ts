import { Module } from '@nestjs/common';
import { AuditJournal } from './audit-journal.js';
import { AuditLog } from './audit-log.js';
import { AuditObserver } from './audit-observer.js';
import { AuditRepository } from './audit.repository.js';

const parts = [AuditLog, AuditJournal, AuditObserver, AuditRepository];

/** The audit trail. Needs `Database` and `Logger` of the infrastructure. */
@Module({ providers: parts, exports: parts })
export class AuditModule {}
