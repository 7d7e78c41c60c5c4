import { Module } from '@nestjs/common';
import { AuditModule } from '#libs/audit';
import { Logger } from '#libs/kernel';
import { ContentBus, TransientStore } from '#libs/transient';
import { ExclusiveDrafts } from './exclusive-drafts.js';
import { TemplateRenderer } from './rendering/template-renderer.js';
import { TemplateBatchReading } from './template-batch-reading.js';
import { TemplateAuthoring } from './template-authoring.js';
import { TemplateBrowseRepository } from './template-browse.repository.js';
import { TemplateCatalog } from './template-catalog.js';
import { TemplateLifecycle } from './template-lifecycle.js';
import { TemplatePreview } from './template-preview.js';
import { TemplateReading } from './template-reading.js';
import { TemplateReleases } from './template-releases.js';
import { TemplateRepository } from './template.repository.js';
import { TemplateTransfer } from './transfer/template-transfer.js';
import { TemplateValidation } from './template-validation.js';

const faces = [
  TemplateCatalog,
  TemplateRenderer,
  TemplateReleases,
  TemplateAuthoring,
  TemplateReading,
  TemplateBatchReading,
  TemplateLifecycle,
  TemplatePreview,
  TemplateTransfer,
  ExclusiveDrafts,
];

/** Who writes content, here or in the families above, says so here. */
const contentBus = {
  provide: ContentBus,
  inject: [TransientStore, Logger],
  useFactory: (store: TransientStore, log: Logger) => new ContentBus(store, log),
};

/**
 * Templates and their versions. Needs `Database`, `Configuration`, `TransientStore`, `Logger` and `Clock` of the
 * infrastructure and the port `TemplatePins` from the wiring.
 */
@Module({
  imports: [AuditModule],
  providers: [...faces, contentBus, TemplateRepository, TemplateBrowseRepository, TemplateValidation],
  exports: [...faces, ContentBus],
})
export class TemplatesModule {}
