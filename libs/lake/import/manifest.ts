import { Injectable } from '@nestjs/common';

import { DriverFailure, SourceFactory, type DatasourceRecord } from '#libs/datasources';
import { egressFetch, EgressPolicy } from '#libs/egress';
import { isJsonObject, isPenstockError, PenstockError, readJson, type JsonObject } from '#libs/kernel';

import { LakeSource } from '../engine/lake-source.js';
import { lakeOptions } from '../options/lake-options.js';
import { parseLocation } from '../registry/location.js';

const MAX_BYTES = 5 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
/** `bucket.s3.region.amazonaws.com`, `s3.region.amazonaws.com`, `s3.amazonaws.com`. */
const AWS_S3 = /^(?:[a-z0-9][a-z0-9.-]*\.)?s3(?:[.-][a-z0-9-]+)?\.amazonaws\.com(?:\.cn)?$/;

/** Fetches the list of tables that a publisher keeps beside them (06 §10). */
@Injectable()
export class Manifests {
  constructor(
    private readonly egress: EgressPolicy,
    private readonly sources: SourceFactory,
  ) {}

  /**
   * @throws 400 `lake_manifest_url_forbidden`, before anything is dialled; 502 when there is no whole answer; 400 when
   *   it is no manifest
   */
  async fetch(record: DatasourceRecord, address: string, signal?: AbortSignal): Promise<JsonObject> {
    const answer = address.startsWith('s3:')
      ? await this.#object(record, address, signal)
      : await this.#answer(record, admitted(record, address), signal);
    let manifest;
    try {
      manifest = readJson(answer);
    } catch (cause) {
      throw notAManifest('It is no JSON.', cause);
    }
    if (Array.isArray(manifest)) return { tables: manifest };
    if (isJsonObject(manifest) && Array.isArray(manifest['tables'])) return manifest;
    throw notAManifest('It has no list named tables.');
  }

  /** Out of a bucket, with what the datasource has to enter it. */
  async #object(record: DatasourceRecord, address: string, signal: AbortSignal | undefined): Promise<string> {
    const parsed = parseLocation(address);
    if (typeof parsed === 'string' || parsed.scheme !== 's3' || parsed.key === '') throw forbidden('url');
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const { source, scrubber } = await this.sources.sourceOf(record);
    try {
      if (!(source instanceof LakeSource)) throw new TypeError('a lake datasource has a lake source');
      const ends = signal ? AbortSignal.any([signal, limit]) : limit;
      return (await source.object(parsed.bucket, parsed.key, MAX_BYTES, ends)).toString('utf8');
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error;
      throw unfetched(record, error.driverCode ?? error.kind, scrubber.failure(error));
    } finally {
      await source.close();
    }
  }

  async #answer(record: DatasourceRecord, url: URL, signal: AbortSignal | undefined): Promise<string> {
    try {
      const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
      const response = await egressFetch(this.egress, url, signal ? { signal } : {}, limits);
      if (response.status === 200) return await response.text();
      throw unfetched(record, `status ${response.status}`);
    } catch (error) {
      if (isPenstockError(error)) {
        if (error.code !== 'datasource.validation.host_forbidden') throw error;
        throw forbidden('egress', error);
      }
      throw unfetched(record, error instanceof Error ? error.name : 'no answer', error);
    }
  }
}

/** Only the datasource's own service, or where none is declared the public S3 hosts. */
function admitted(record: DatasourceRecord, address: string): URL {
  const url = URL.parse(address);
  if (!url || url.username !== '' || url.password !== '') throw forbidden('url');
  const { endpoint } = lakeOptions(record.properties.dialect as ReadonlyMap<string, string>);
  if (endpoint) {
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
    if (url.hostname !== endpoint.host.toLowerCase() || port !== endpoint.port) throw forbidden('endpoint');
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw forbidden('scheme');
    return url;
  }
  if (url.protocol !== 'https:') throw forbidden('scheme');
  if (!AWS_S3.test(url.hostname) || url.port !== '') throw forbidden('host');
  return url;
}

function forbidden(reason: string, cause?: unknown): PenstockError {
  return new PenstockError('datasource.validation.lake_manifest_url_forbidden', {
    message:
      'A manifest comes from the endpoint of its datasource, or without one from https on an S3 host of AWS; or from s3://bucket/key, with the credential of the datasource.',
    details: { reason },
    cause,
  });
}

function unfetched({ name }: DatasourceRecord, reason: string, cause?: unknown): PenstockError {
  return new PenstockError('pipeline.execution.datasource_unreachable', {
    message: 'The manifest could not be fetched.',
    details: { datasource: name, reason },
    cause,
  });
}

function notAManifest(what: string, cause?: unknown): PenstockError {
  return new PenstockError('datasource.validation.properties_invalid', {
    message: `The manifest cannot be used: ${what}`,
    details: { key: 'manifest_url' },
    cause,
  });
}
