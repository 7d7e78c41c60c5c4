import { Module } from '@nestjs/common';

import { AuditModule } from '#libs/audit';
import { DatasourcesModule } from '#libs/datasources';

import { FactListing } from './fact-listing.js';
import { FactStanding } from './fact-standing.js';
import { FactRepository } from './fact.repository.js';
import { AnnotatedCatalog } from './inline/annotated-catalog.js';
import { DriftMarks } from './inline/drift-marks.js';
import { InlineFactRepository } from './inline/inline-fact.repository.js';
import { Evidence } from './recording/evidence.js';
import { FactRecording } from './recording/fact-recording.js';
import { LiveRefs } from './recording/live-refs.js';
import { SemanticsService } from './semantics.service.js';

/** Learned facts. Needs `Database` and `Logger` of the infrastructure. */
@Module({
  imports: [AuditModule, DatasourcesModule],
  providers: [
    AnnotatedCatalog,
    DriftMarks,
    Evidence,
    FactListing,
    FactRecording,
    FactRepository,
    FactStanding,
    InlineFactRepository,
    LiveRefs,
    SemanticsService,
  ],
  exports: [AnnotatedCatalog, FactListing, FactRecording, FactStanding, SemanticsService],
})
export class SemanticsModule {}
