import { check, type JdbcRules } from '../../properties/jdbc-rules.js';

export const TARGET_SERVER_TYPES = [
  'any',
  'primary',
  'master',
  'secondary',
  'slave',
  'preferSecondary',
  'preferSlave',
  'preferPrimary',
] as const;
export type TargetServerType = (typeof TARGET_SERVER_TYPES)[number];

/** Run-time settings a datasource may not set: they would undo a read-only lease, load code or change who acts. */
const FORBIDDEN_SETTINGS = /^(?:.*read_only|.*_preload_libraries|dynamic_library_path|role|session_authorization)$/i;

/** `-c key=value` pairs, whitespace between them, a backslash keeps the blank behind it in the value. Null when it is anything else. */
export function parseStartupOptions(text: string): Map<string, string> | null {
  const settings = new Map<string, string>();
  const words = [...text.matchAll(/(?:\\.|[^\s\\])+/gs)].map(([word]) => word);
  if (words.join('').length !== text.replace(/(\\.)|\s/gs, '$1').length) return null;
  for (let at = 0; at < words.length; at += 2) {
    const setting = /^([A-Za-z_][A-Za-z0-9_.]*)=(.*)$/s.exec(words[at + 1] ?? '');
    if (words[at] !== '-c' || !setting) return null;
    settings.set(setting[1] ?? '', (setting[2] ?? '').replace(/\\(.)/gs, '$1'));
  }
  return settings;
}

function checkStartupOptions(text: string): string | undefined {
  const settings = /[\u0000-\u001f\u007f]/.test(text) ? null : parseStartupOptions(text);
  if (!settings) return 'only "-c name=value" settings are taken.';
  const forbidden = [...settings.keys()].find((name) => FORBIDDEN_SETTINGS.test(name));
  return forbidden === undefined ? undefined : `${forbidden} cannot be set.`;
}

function checkSchema(text: string): string | undefined {
  return check.text(text);
}

export const POSTGRES_JDBC: JdbcRules = {
  mapped: {
    sslmode: check.oneOf('disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'),
    ssl: check.boolean,
    sslrootcert: check.text,
    ApplicationName: check.text,
    currentSchema: checkSchema,
    connectTimeout: check.seconds,
    loginTimeout: check.seconds,
    socketTimeout: check.seconds,
    tcpKeepAlive: check.boolean,
    targetServerType: check.oneOf(...TARGET_SERVER_TYPES),
    options: checkStartupOptions,
  },
  ignored: [
    'adaptiveFetch',
    'adaptiveFetchMaximum',
    'adaptiveFetchMinimum',
    'allowEncodingChanges',
    'assumeMinServerVersion',
    'autosave',
    'binaryTransfer',
    'binaryTransferDisable',
    'binaryTransferEnable',
    'cancelSignalTimeout',
    'channelBinding',
    'cleanupSavepoints',
    'databaseMetadataCacheFields',
    'databaseMetadataCacheFieldsMiB',
    'defaultRowFetchSize',
    'disableColumnSanitiser',
    'escapeSyntaxCallMode',
    'gssEncMode',
    'gssResponseTimeout',
    'hideUnprivilegedObjects',
    'hostRecheckSeconds',
    'loadBalanceHosts',
    'localSocketAddress',
    'logServerErrorDetail',
    'logUnclosedConnections',
    'maxResultBuffer',
    'maxSendBufferSize',
    'preferQueryMode',
    'prepareThreshold',
    'preparedStatementCacheQueries',
    'preparedStatementCacheSizeMiB',
    'protocolVersion',
    'quoteReturningIdentifiers',
    'readOnlyMode',
    'receiveBufferSize',
    'reWriteBatchedInserts',
    'sendBufferSize',
    'sslResponseTimeout',
    'stringtype',
    'tcpNoDelay',
    'unknownLength',
  ],
  refused: [
    'socketFactory*',
    'sslfactory*',
    'sslhostnameverifier',
    'authenticationPluginClassName',
    'sslkey',
    'sslcert',
    'sslpassword*',
    'logger*',
    'jaas*',
    'kerberosServerName',
    'gsslib',
    'useSpnego',
    'sspiServiceClass',
    'xmlFactoryFactory',
    'replication',
    'sslNegotiation',
  ],
};
