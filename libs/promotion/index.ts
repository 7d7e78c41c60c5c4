export type { CurrentEntry, Inventory } from './inventory.js';
export { InventoryService } from './inventory.service.js';
export { keyFingerprint } from './key-fingerprint.js';
export { PromotionReceiver, type PushFacts, type PushReport, type ReceivedVersion } from './promotion-receiver.js';
export { PromotionSender } from './promotion-sender.js';
export type { Candidate, PromotionReport, PromotionView } from './promotion-view.js';
export { PromotionModule } from './promotion.module.js';
