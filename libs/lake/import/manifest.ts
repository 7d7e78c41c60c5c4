import { Injectable } from '@nestjs/common';

import { DriverFailure, SourceFactory, type DatasourceRecord } from '#libs/datasources';
import { egressFetch, EgressPolicy } from '#libs/egress';
import { Configuration, isJsonObject, isPenstockError, PenstockError, readJson, type JsonObject } from '#libs/kernel';

import { LakeSource } from '../engine/lake-source.js';
import { lakeOptions } from '../options/lake-options.js';
import { parseLocation } from '../registry/location.js';
import { admittedAddress } from './manifest-address.js';

const MAX_BYTES = 5 * 1024 * 1024;

/** Fetches the list of tables that a publisher keeps beside them (06 §10). */
@Injectable()
export class Manifests {
  readonly #timeoutMs: number;

  constructor(
    config: Configuration,
    private readonly egress: EgressPolicy,
    private readonly sources: SourceFactory,
  ) {
    this.#timeoutMs = config.get('datapipelines.lake.manifest-timeout-seconds') * 1000;
  }

  /**
   * @throws 400 `lake_manifest_url_forbidden`, before anything is dialled; 502 when there is no whole answer; 400 when
   *   it is no manifest
   */
  async fetch(record: DatasourceRecord, address: string, signal?: AbortSignal): Promise<JsonObject> {
    const limit = AbortSignal.timeout(this.#timeoutMs);
    const ends = signal ? AbortSignal.any([signal, limit]) : limit;
    let answer;
    try {
      answer = address.startsWith('s3:')
        ? await this.#object(record, address, ends)
        : await this.#answer(record, admitted(record, address), ends);
    } catch (error) {
      throw limit.aborted ? this.#late(record, error) : error;
    }
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
  async #object(record: DatasourceRecord, address: string, signal: AbortSignal): Promise<string> {
    const parsed = parseLocation(address);
    if (typeof parsed === 'string' || parsed.scheme !== 's3' || parsed.key === '') throw forbidden('url');
    const { source, scrubber } = await this.sources.sourceOf(record);
    try {
      if (!(source instanceof LakeSource)) throw new TypeError('a lake datasource has a lake source');
      return (await source.object(parsed.bucket, parsed.key, MAX_BYTES, signal)).toString('utf8');
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error;
      throw unfetched(record, error.driverCode ?? error.kind, scrubber.failure(error));
    } finally {
      await source.close();
    }
  }

  #late(record: DatasourceRecord, cause: unknown): PenstockError {
    const seconds = this.#timeoutMs / 1000;
    const message = `The manifest did not come whole within ${seconds} s (datapipelines.lake.manifest-timeout-seconds).`;
    return unfetched(record, 'TimeoutError', cause, message);
  }

  async #answer(record: DatasourceRecord, url: URL, signal: AbortSignal): Promise<string> {
    try {
      const limits = { timeoutMs: this.#timeoutMs, maxBytes: MAX_BYTES };
      const response = await egressFetch(this.egress, url, { signal }, limits);
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

function admitted(record: DatasourceRecord, address: string): URL {
  const { endpoint } = lakeOptions(record.properties.dialect as ReadonlyMap<string, string>);
  const url = admittedAddress(address, endpoint);
  if (typeof url === 'string') throw forbidden(url);
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

function unfetched(
  { name }: DatasourceRecord,
  reason: string,
  cause?: unknown,
  message = 'The manifest could not be fetched.',
): PenstockError {
  return new PenstockError('pipeline.execution.datasource_unreachable', {
    message,
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
