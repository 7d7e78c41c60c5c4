export {
  Configuration,
  type CarriedConfiguration,
  type ConfigurationMode,
  type ConfigurationValues,
} from './configuration.js';
export { loadConfiguration, type LoadOptions } from './load.js';
export { ConfigurationError, type ConfigurationViolation } from './violation.js';
export type { ConfigurationKey, ConfigurationValue } from './table.js';
export { SIGNING_ALGORITHMS, usableProviders, type OidcProviderSetting } from './oidc-providers.js';
export { sentinelAddress, type SentinelAddress } from './redis-address.js';
