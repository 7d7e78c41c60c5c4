import { parseHostPort, parseQuery, percentDecode, UrlDefect } from '../../properties/url-defect.js';
import { DEFAULT_PORT, parseDescriptor, targetName, type OraclePlace } from './descriptor.js';

export interface OracleUrl extends OraclePlace {
  parameters: ReadonlyMap<string, string>;
}

/**
 * The part of a JDBC URL after `jdbc:oracle:` — `thin:@//h[:1521]/svc`, `thin:@h:p/svc`, `thin:@h:p:SID`, `thin:@tcps://…` or
 * `thin:@(DESCRIPTION=…)` (06 §2). Aliases of a tnsnames file are defects: this server has none.
 *
 * @throws UrlDefect
 */
export function parseOracleUrl(rest: string): OracleUrl {
  if (!rest.startsWith('thin:')) {
    throw new UrlDefect('driver_type', 'Only the thin driver is taken: jdbc:oracle:thin:@//host:1521/service.');
  }
  const at = rest.indexOf('@');
  if (at > 'thin:'.length) {
    throw new UrlDefect('credential_in_url', 'The URL carries a user or password; use the credential instead.');
  }
  if (at < 0) throw new UrlDefect('host', 'The URL needs an @ before its host: jdbc:oracle:thin:@//host:1521/service.');
  const place = rest.slice(at + 1);
  if (place.trimStart().startsWith('(')) return { ...parseDescriptor(place.trim()), parameters: new Map() };
  return parseEasyConnect(place);
}

function parseEasyConnect(text: string): OracleUrl {
  if (text.includes('#')) throw new UrlDefect('fragment', 'A JDBC URL has no fragment; encode # as %23.');
  const question = text.indexOf('?');
  const place = question < 0 ? text : text.slice(0, question);
  const parameters = parseQuery(question < 0 ? '' : text.slice(question + 1));
  const [, protocol, address = ''] = /^(?:(tcps?):)?(?:\/\/)?(.*)$/is.exec(place) ?? [];
  if (address.includes('@') || address.includes(',')) {
    throw new UrlDefect(
      address.includes('@') ? 'credential_in_url' : 'cluster_form',
      'The URL names one server and no user; several servers stand in a (DESCRIPTION=…).',
    );
  }
  const slash = address.indexOf('/');
  const rest = { server: null, certificateName: null, parameters };
  const secure = protocol?.toLowerCase() === 'tcps';
  if (slash >= 0) {
    const host = { ...parseHostPort(address.slice(0, slash), DEFAULT_PORT), secure };
    return { hosts: [host], target: { service: targetName(percentDecode(address.slice(slash + 1))) }, ...rest };
  }
  const sid = /^(\[[^\]]*\]|[^:]+):(\d+):([^:]*)$/.exec(address);
  if (!sid) {
    throw new UrlDefect('alias', 'The URL names a TNS alias or no service; write //host:1521/service.');
  }
  const host = { ...parseHostPort(`${sid[1]}:${sid[2]}`, DEFAULT_PORT), secure };
  return { hosts: [host], target: { sid: targetName(sid[3] ?? '') }, ...rest };
}
