export { EgressPolicy, type CheckedAddress, type EgressRules, type NameLookup } from './egress-policy.js';
export { egressRules } from './egress-rules.js';
export { EgressModule } from './egress.module.js';
export { HostUnresolved } from './host-unresolved.js';
export type { OwnService } from './own-services.js';
export { AnswerTooLarge, egressFetch, type EgressRequest, type FetchLimits } from './egress-fetch.js';
