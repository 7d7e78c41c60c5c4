import { check, type JdbcRules } from '../../properties/jdbc-rules.js';

/** Words of the driver for `encrypt`. */
export const ENCRYPT: ReadonlyMap<string, true | false | 'strict'> = new Map<string, true | false | 'strict'>([
  ['true', true],
  ['mandatory', true],
  ['false', false],
  ['optional', false],
  ['strict', 'strict'],
]);

/** What one packet may hold. */
const packetSize = (value: string): string | undefined =>
  /^\d{3,5}$/.test(value) && Number(value) >= 512 && Number(value) <= 32_767
    ? undefined
    : 'must be 512 to 32767 bytes.';

export const MSSQL_JDBC: JdbcRules = {
  mapped: {
    encrypt: check.oneOf(...ENCRYPT.keys()),
    databaseName: check.text,
    applicationName: check.text,
    applicationIntent: check.oneOf('ReadOnly', 'ReadWrite', 'readonly', 'readwrite'),
    loginTimeout: check.seconds,
    socketTimeout: check.milliseconds,
    hostNameInCertificate: check.text,
    packetSize,
    serverCertificate: check.text,
  },
  ignored: [
    // One address is judged and dialled (04 §12): several are never tried side by side.
    'multiSubnetFailover',
    'cancelQueryTimeout',
    'calcBigDecimalPrecision',
    'columnEncryptionSetting',
    'connectRetryCount',
    'connectRetryInterval',
    'delayLoadingLobs',
    'disableStatementPooling',
    'enablePrepareOnFirstPreparedStatementCall',
    'failoverPartner',
    'fips',
    'ignoreOffsetOnDateTimeOffsetConversion',
    'iPAddressPreference',
    'lastUpdateCount',
    'lockTimeout',
    'maxResultBuffer',
    'prepareMethod',
    'queryTimeout',
    'replication',
    'responseBuffering',
    'selectMethod',
    'sendStringParametersAsUnicode',
    'sendTemporalDataTypesAsStringForBulkCopy',
    'sendTimeAsDatetime',
    'serverNameAsACE',
    'serverPreparedStatementDiscardThreshold',
    'statementPoolingCacheSize',
    'transparentNetworkIPResolution',
    'useBulkCopyForBatchInsert',
    'useDefaultGSSCredential',
    'useFmtOnly',
    'workstationID',
    'xopenStates',
  ],
  refused: [
    'trustServerCertificate',
    'trustStore*',
    'trustManager*',
    'keyStore*',
    'keyVault*',
    'clientCertificate',
    'clientKey*',
    'socketFactory*',
    'accessToken*',
    'integratedSecurity',
    'authentication',
    'authenticationScheme',
    'enclave*',
    'gsscredential',
    'jaas*',
    'msiClientId',
    'AAD*',
    'realm',
    'serverSpn',
    'domain',
  ],
};
