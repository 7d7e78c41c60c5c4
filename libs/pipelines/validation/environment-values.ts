import { isJsonObject, type JsonObject, type JsonValue } from '#libs/kernel';
import type { Notes } from '../document/notes.js';
import { childPath } from '../document/object-reader.js';

/** Longer strings are no names; no pattern is run on them (contract 01 §10). */
const MAX_JUDGED_CHARS = 512;

const ENVIRONMENTS: ReadonlySet<string> = new Set(['dev', 'staging', 'prod', 'production']);
const CREDENTIAL_MARKS = ['password=', 'pwd=', 'token=', 'secret=', 'dpk_'];
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const OCTET = '(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})';

/** What makes a value belong to one environment only, in the order they are tried. */
const HEURISTICS: readonly (readonly [name: string, matches: (text: string) => boolean])[] = [
  ['JDBC_URL', (text) => /^jdbc:/i.test(text) || /^[A-Za-z][A-Za-z0-9+.-]{1,20}:\/\//.test(text)],
  ['CREDENTIAL', (text) => CREDENTIAL_MARKS.some((mark) => text.toLowerCase().includes(mark))],
  ['UUID', (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)],
  ['IP_ADDRESS', isAddress],
  [
    'HOSTNAME',
    (text) =>
      new RegExp(`^(?:${LABEL}\\.){1,9}[A-Za-z]{2,63}\\.?$`).test(text) ||
      new RegExp(`^${LABEL}(?:\\.${LABEL}){0,9}:[0-9]{1,5}$`).test(text),
  ],
  ['ABSOLUTE_PATH', (text) => /^(?:\/|~\/|\\\\|[A-Za-z]:[\\/])/.test(text)],
  ['ENVIRONMENT_LITERAL', (text) => ENVIRONMENTS.has(text.toLowerCase())],
];

function isAddress(text: string): boolean {
  return (
    new RegExp(`^(?:${OCTET}\\.){3}${OCTET}(?::[0-9]{1,5})?$`).test(text) ||
    (/^\[?[0-9A-Fa-f:]{2,39}\]?(?::[0-9]{1,5})?$/.test(text) && (text.match(/:/g)?.length ?? 0) >= 2)
  );
}

/** The heuristic a value falls under, if any. */
export function environmentHeuristic(text: string): string | undefined {
  if (text.length > MAX_JUDGED_CHARS) return undefined;
  return HEURISTICS.find(([, matches]) => matches(text))?.[0];
}

/**
 * A pipeline must run unchanged in every environment, so hosts, paths and credentials stand in datasources.
 * Judges node ids, sources, output targets and everything in `settings`; `known` are the datasource names in sight.
 */
export function judgeEnvironmentValues(body: JsonObject, known: ReadonlySet<string>, notes: Notes): void {
  const judge = (value: JsonValue | undefined, path: string): void => {
    if (typeof value !== 'string' || known.has(value)) return;
    const heuristic = environmentHeuristic(value);
    if (heuristic === undefined) return;
    // The value itself may be a secret: only its kind is told.
    notes.fail(
      'pipeline.validation.forbidden_env_specific_value',
      path,
      `The value looks like ${heuristic.toLowerCase().replaceAll('_', ' ')}: register it as a datasource and use its name.`,
      { heuristic },
    );
  };
  judgeTree(body.settings, 'settings', judge);
  if (!Array.isArray(body.nodes)) return;
  for (const [index, node] of body.nodes.entries()) {
    if (!isJsonObject(node)) continue;
    const path = `nodes[${index}]`;
    judge(node.id, `${path}.id`);
    judge(node.source, `${path}.source`);
    if (isJsonObject(node.output)) {
      judge(node.output.datasource, `${path}.output.datasource`);
      judge(node.output.table, `${path}.output.table`);
    }
    judgeTree(node.settings, `${path}.settings`, judge);
  }
}

/** Keys and strings of a tree; iterative, the reader has bounded the depth. */
function judgeTree(
  root: JsonValue | undefined,
  rootPath: string,
  judge: (value: JsonValue | undefined, path: string) => void,
): void {
  const open: [JsonValue | undefined, string][] = [[root, rootPath]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, path] = next;
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) open.push([item, `${path}[${index}]`]);
    } else if (isJsonObject(value)) {
      for (const key of Object.keys(value)) {
        judge(key, childPath(path, key));
        open.push([value[key], childPath(path, key)]);
      }
    } else judge(value, path);
  }
}
