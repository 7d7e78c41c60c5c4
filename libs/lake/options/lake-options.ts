import { constrainedMemory } from 'node:process';
import { totalmem } from 'node:os';
import { isAbsolute } from 'node:path';

import type { NamedFile } from '#libs/datasources';
import type { Failure } from '#libs/kernel';

/** `properties.dialect` of a lake datasource, checked (06 §10). */
export interface LakeOptions {
  region: string | undefined;
  /** host[:port] of an S3 service that is not AWS; spoken to in plain HTTP. */
  endpoint: { host: string; port: number } | undefined;
  /** Undefined: as a service of one's own expects it, `path`; AWS, `vhost`. */
  urlStyle: 'path' | 'vhost' | undefined;
  /** Requests without a signature; beats credentials. */
  unsigned: boolean;
  memoryMb: number;
  threads: number | undefined;
  temporaryDirectory: string | undefined;
  attachments: readonly { alias: string; file: string }[];
}

type Check = (value: string) => string | undefined;

const oneOf =
  (...words: string[]): Check =>
  (value) =>
    words.includes(value) ? undefined : `must be one of ${words.join(', ')}.`;
const matching =
  (pattern: RegExp, says: string): Check =>
  (value) =>
    pattern.test(value) ? undefined : says;

const URL_STYLES = ['path', 'vhost'] as const;
const ALIAS = /^[a-z_][a-z0-9_]{0,62}$/;
const RESERVED_ALIASES = ['memory', 'system', 'temp'];
const MEMORY = /^(\d{1,7})\s?(MB|MiB|GB|GiB)$/i;
const LEAST_MB = 64;
const MOST_MB = 4096;

const CHECKS: Readonly<Record<string, Check>> = {
  'catalog.kind': oneOf('s3', 'glue', 's3_tables', 'rest'),
  'catalog.ref': matching(/^[\x21-\x7e]{1,1000}$/, 'must be 1 to 1000 visible characters.'),
  region: matching(/^[a-z0-9-]{1,40}$/, 'must be a region like eu-central-1.'),
  endpoint: (value) => (endpointOf(value) ? undefined : 'must be host or host:port, without a scheme.'),
  url_style: oneOf(...URL_STYLES),
  unsigned: oneOf('true', 'false'),
  memory_limit: (value) => {
    const megabytes = megabytesOf(value);
    return megabytes !== undefined && megabytes >= LEAST_MB ? undefined : 'must be like 512MB or 2GB, at least 64MB.';
  },
  threads: matching(/^([1-9]|[1-9]\d|1\d\d|2[0-4]\d|25[0-6])$/, 'must be a whole number from 1 to 256.'),
  temp_directory: (value) => (isPlainPath(value) ? undefined : 'must be an absolute path without "..".'),
  attach: (value) =>
    attachmentsOf(value) ? undefined : 'must be alias=/absolute/file, several separated by commas, each alias once.',
};

/** Every defect of the section: unknown keys, blanks, wrong values. */
export function checkLakeSection(section: ReadonlyMap<string, unknown>): Failure[] {
  return [...section].flatMap(([key, value]): Failure[] => {
    const path = `properties.dialect.${key}`;
    const check = Object.hasOwn(CHECKS, key) ? CHECKS[key] : undefined;
    if (!check) {
      const message = `A lake has no option "${key}"; it has ${Object.keys(CHECKS).join(', ')}.`;
      return [{ code: 'datasource.validation.properties_invalid', path, message, details: { key } }];
    }
    if (value === null || (typeof value === 'string' && value.trim() === '')) {
      const message = `${key} is blank; leave it out instead.`;
      return [{ code: 'datasource.validation.property_empty', path, message, details: { key } }];
    }
    const defect = typeof value === 'string' ? check(value) : 'must be text.';
    if (defect === undefined) return [];
    return [{ code: 'datasource.validation.properties_invalid', path, message: `${key} ${defect}`, details: { key } }];
  });
}

/** Options of a section without defects. */
export function lakeOptions(section: ReadonlyMap<string, string>): LakeOptions {
  const threads = section.get('threads');
  return {
    region: section.get('region'),
    endpoint: endpointOf(section.get('endpoint') ?? ''),
    urlStyle: URL_STYLES.find((style) => style === section.get('url_style')),
    unsigned: section.get('unsigned') === 'true',
    memoryMb: megabytesOf(section.get('memory_limit') ?? '') ?? defaultMemoryMb(),
    threads: threads === undefined ? undefined : Number(threads),
    temporaryDirectory: section.get('temp_directory'),
    attachments: attachmentsOf(section.get('attach') ?? '') ?? [],
  };
}

/** Files of this machine that the options name; each must lie under the file roots. */
export function namedFiles({ attachments, temporaryDirectory }: LakeOptions): NamedFile[] {
  const files = attachments.map(({ file }) => ({ path: file, property: 'properties.dialect.attach' }));
  return temporaryDirectory === undefined
    ? files
    : [...files, { path: `${temporaryDirectory}/spill`, property: 'properties.dialect.temp_directory' }];
}

function endpointOf(text: string): { host: string; port: number } | undefined {
  const parts = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9]([A-Za-z0-9.-]{0,252}))(?::(\d{1,5}))?$/.exec(text);
  const port = Number(parts?.[3] ?? 80);
  return parts?.[1] !== undefined && port >= 1 && port <= 65_535 ? { host: parts[1], port } : undefined;
}

function megabytesOf(text: string): number | undefined {
  const parts = MEMORY.exec(text);
  if (!parts) return undefined;
  return Number(parts[1]) * (parts[2]?.toUpperCase().startsWith('G') === true ? 1024 : 1);
}

/** A quarter of what the container or machine has. */
function defaultMemoryMb(): number {
  const limit = constrainedMemory();
  const bytes = limit > 0 && limit < totalmem() ? limit : totalmem();
  return Math.max(LEAST_MB, Math.min(MOST_MB, Math.floor(bytes / 4 / 1024 / 1024)));
}

function attachmentsOf(text: string): { alias: string; file: string }[] | undefined {
  const found = text.split(',').map((part) => {
    const at = part.indexOf('=');
    return { alias: part.slice(0, Math.max(at, 0)).trim(), file: part.slice(at + 1).trim() };
  });
  const good = found.every(
    ({ alias, file }) => ALIAS.test(alias) && !RESERVED_ALIASES.includes(alias) && isPlainPath(file),
  );
  return good && new Set(found.map(({ alias }) => alias)).size === found.length ? found : undefined;
}

function isPlainPath(path: string): boolean {
  return isAbsolute(path) && !path.includes('..') && !/['"`\\;\u0000-\u001f\u007f]/.test(path);
}
