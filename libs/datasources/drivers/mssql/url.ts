import { parseHostPort, UrlDefect } from '../../properties/url-defect.js';

export interface MssqlUrl {
  host: string;
  /** Null = the named instance's own, asked of the server's browser service. */
  port: number | null;
  instance: string | null;
  /** By the driver's own spelling. */
  parameters: ReadonlyMap<string, string>;
}

const DEFAULT_PORT = 1433;
const INSTANCE = /^[A-Za-z_][A-Za-z0-9_$#]{0,15}$/;

/** Names of the driver that mean the same, and those that name the place: case does not count. */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    database: 'databaseName',
    databasename: 'databaseName',
    server: 'serverName',
    servername: 'serverName',
    port: 'portNumber',
    portnumber: 'portNumber',
    instance: 'instanceName',
    instancename: 'instanceName',
    applicationname: 'applicationName',
    applicationintent: 'applicationIntent',
    encrypt: 'encrypt',
    logintimeout: 'loginTimeout',
    sockettimeout: 'socketTimeout',
    hostnameincertificate: 'hostNameInCertificate',
    multisubnetfailover: 'multiSubnetFailover',
    packetsize: 'packetSize',
    servercertificate: 'serverCertificate',
    username: 'user',
  }),
);

/**
 * The part of a JDBC URL after `jdbc:sqlserver:` — `//h[\inst][:1433][;k=v…]`, values quoted in `{}` where they hold a
 * semicolon (06 §2).
 *
 * @throws UrlDefect
 */
export function parseMssqlUrl(rest: string): MssqlUrl {
  if (!rest.startsWith('//')) throw new UrlDefect('host', 'The URL names no host; it begins with //host.');
  const [place = '', ...settings] = splitSettings(rest.slice(2));
  const parameters = readSettings(settings);
  const take = (name: string): string | undefined => {
    const value = parameters.get(name);
    parameters.delete(name);
    return value;
  };
  if (place.includes('@')) {
    throw new UrlDefect('credential_in_url', 'The URL carries a user or password; use the credential instead.');
  }
  if (/[/?#]/.test(place)) {
    throw new UrlDefect('path', 'The URL has a path; name the database as ;databaseName=… behind the host.');
  }
  const address = readPlace(place);
  const named = { host: take('serverName'), port: take('portNumber'), instance: take('instanceName') };
  const doubled = Object.entries(named).find(
    ([key, value]) => value !== undefined && address[key as keyof typeof address] !== null,
  );
  if (doubled) throw new UrlDefect('parameter_repeated', `The URL gives the ${doubled[0]} twice.`, { key: doubled[0] });
  const instance = named.instance ?? address.instance;
  const portText = named.port ?? address.port;
  if (instance !== null && !INSTANCE.test(instance)) {
    throw new UrlDefect('instance', 'The URL names no usable instance.');
  }
  const { host, port } = parseHostPort(
    `${bracketed(named.host ?? address.host ?? 'localhost')}${portText === null ? '' : `:${portText}`}`,
    DEFAULT_PORT,
  );
  return { host, port: portText === null && instance !== null ? null : port, instance, parameters };
}

/** A plain IPv6 address as a property has no brackets. */
function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

function readPlace(text: string): { host: string | null; port: string | null; instance: string | null } {
  const match = /^(\[[^\]]*\]|[^\\:]*)(?:\\([^:]*))?(?::(.*))?$/s.exec(text);
  if (!match) throw new UrlDefect('host', 'The URL names no usable host.');
  const [, host = '', instance, port] = match;
  return { host: host === '' ? null : host, port: port ?? null, instance: instance ?? null };
}

/** Cuts at semicolons outside `{…}`; `}}` inside stands for `}`. */
function splitSettings(text: string): string[] {
  const parts = [''];
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (quoted && character === '}' && text[at + 1] === '}') {
      parts[parts.length - 1] += '}}';
      at += 1;
      continue;
    }
    if (quoted ? character === '}' : character === '{' && parts.at(-1)!.endsWith('=')) quoted = !quoted;
    if (character === ';' && !quoted) parts.push('');
    else parts[parts.length - 1] += character;
  }
  if (quoted) throw new UrlDefect('quoting', 'A value that begins with { does not end with }.');
  return parts;
}

function readSettings(parts: readonly string[]): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const part of parts) {
    if (part.trim() === '') continue;
    const equals = part.indexOf('=');
    const written = (equals < 0 ? part : part.slice(0, equals)).trim();
    const value = equals < 0 ? '' : part.slice(equals + 1);
    const key = SPELLINGS.get(written.toLowerCase()) ?? written;
    if (key === '') throw new UrlDefect('parameter_empty', 'The URL has a parameter without a name.');
    if (parameters.has(key)) throw new UrlDefect('parameter_repeated', `The URL gives ${key} twice.`, { key });
    if (/[\u0000-\u001f\u007f]/.test(part)) {
      throw new UrlDefect('control_character', 'The URL contains a control character.');
    }
    parameters.set(key, unquoted(value));
  }
  return parameters;
}

function unquoted(value: string): string {
  if (!value.startsWith('{')) return value.trim();
  if (!/^\{(?:[^}]|\}\})*\}$/s.test(value)) {
    throw new UrlDefect('quoting', 'A value that begins with { ends with }, and }} stands for } in it.');
  }
  return value.slice(1, -1).replaceAll('}}', '}');
}
