export * from './audit-events.js';
export { AuditLog, type AuditActor } from './audit-log.js';
export { auditText, isSecretLikeKey } from './audit-details.js';
