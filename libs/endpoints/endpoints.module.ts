import { Module } from '@nestjs/common';
import { AuditModule } from '#libs/audit';
import { ExecutionsModule } from '#libs/executions';
import { PipelinesModule } from '#libs/pipelines';
import { EndpointKeyBindingWriter, EndpointReferences } from './endpoint-ports.js';
import { EndpointReference } from './endpoint-reference.js';
import { EndpointRegistry } from './endpoint-registry.js';
import { EndpointServer } from './endpoint-server.js';
import { EndpointService } from './endpoint.service.js';
import { EndpointTransfer } from './endpoint-transfer.js';
import { KeyBindingRepository } from './key-binding.repository.js';
import { KeyBindingService } from './key-binding.service.js';
import { ServedVersions } from './served-versions.js';
import { PublishedEndpointRepository } from './published-endpoint.repository.js';

const OFFERED = [
  EndpointService,
  EndpointReference,
  EndpointTransfer,
  KeyBindingService,
  EndpointServer,
  EndpointKeyBindingWriter,
  EndpointReferences,
];

@Module({
  imports: [AuditModule, ExecutionsModule, PipelinesModule],
  providers: [...OFFERED, EndpointRegistry, ServedVersions, PublishedEndpointRepository, KeyBindingRepository],
  exports: OFFERED,
})
export class EndpointsModule {}
