export { EndpointKeyBindingWriter, EndpointReferences } from './endpoint-ports.js';
export { EndpointReference, type EndpointContract } from './endpoint-reference.js';
export { EndpointServer, type ServeOutcome, type ServeRequest } from './endpoint-server.js';
export { EndpointService, type Publication } from './endpoint.service.js';
export type { EndpointView, KeyBindingView } from './endpoint-views.js';
export { EndpointsModule } from './endpoints.module.js';
export { KeyBindingService, type BindingAddress } from './key-binding.service.js';
export { ENDPOINT_ROOT } from './path-pattern.js';
