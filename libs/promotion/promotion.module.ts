import { Module } from '@nestjs/common';
import { AuditModule } from '#libs/audit';
import { DatasourcesModule } from '#libs/datasources';
import { EndpointsModule } from '#libs/endpoints';
import { IdentityModule } from '#libs/identity';
import { PipelinesModule } from '#libs/pipelines';
import { TemplatesModule } from '#libs/templates';
import { InventoryService } from './inventory.service.js';
import { PromotionReceiver } from './promotion-receiver.js';

/** Content from one deployment to the next. Needs `Configuration`, `Database` and `Logger` of the infrastructure. */
@Module({
  imports: [AuditModule, DatasourcesModule, EndpointsModule, IdentityModule, PipelinesModule, TemplatesModule],
  providers: [InventoryService, PromotionReceiver],
  exports: [InventoryService, PromotionReceiver],
})
export class PromotionModule {}
