import { Module } from '@nestjs/common';
import { AuditModule } from '#libs/audit';
import { DatasourcesModule } from '#libs/datasources';
import { EgressModule } from '#libs/egress';
import { EndpointsModule } from '#libs/endpoints';
import { IdentityModule } from '#libs/identity';
import { PipelinesModule } from '#libs/pipelines';
import { TemplatesModule } from '#libs/templates';
import { InventoryService } from './inventory.service.js';
import { PromotionReceiver } from './promotion-receiver.js';
import { PromotionSender } from './promotion-sender.js';
import { PromotionSettings } from './promotion-settings.js';
import { PromotionTarget } from './promotion-target.js';
import { PromotionWishes } from './promotion-wishes.js';

/** Content from one deployment to the next. Needs `Configuration`, `Database` and `Logger` of the infrastructure. */
@Module({
  imports: [
    AuditModule,
    DatasourcesModule,
    EgressModule,
    EndpointsModule,
    IdentityModule,
    PipelinesModule,
    TemplatesModule,
  ],
  providers: [
    InventoryService,
    PromotionReceiver,
    PromotionSender,
    PromotionSettings,
    PromotionTarget,
    PromotionWishes,
  ],
  exports: [InventoryService, PromotionReceiver, PromotionSender],
})
export class PromotionModule {}
