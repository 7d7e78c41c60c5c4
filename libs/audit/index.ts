export * from './audit-events.js';
export { auditText } from './audit-details.js';
export { AuditJournal } from './audit-journal.js';
export {
  actArrays,
  auditedActsSql,
  auditEntry,
  AuditLog,
  inetOf,
  type ActEntry,
  type AuditActor,
  type AuditEntry,
} from './audit-log.js';
export { AuditObserver } from './audit-observer.js';
export { auditPlace, AuditRepository, type AuditFilter, type AuditRow } from './audit.repository.js';
export { AuditModule } from './audit.module.js';
