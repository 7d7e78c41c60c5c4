import { createWriteStream } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { addAbortSignal, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import {
  GetObjectCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  NotFound,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';

import { DriverFailure } from '#libs/datasources';
import { HostUnresolved, type EgressPolicy } from '#libs/egress';
import { isPenstockError } from '#libs/kernel';

import type { LakeOptions } from '../options/lake-options.js';

export interface StoredObject {
  key: string;
  /** Names the content; another content has another one. */
  etag: string;
  bytes: number;
}

export interface MachineIdentity {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | undefined;
  /** Milliseconds since 1970; undefined: for as long as it is not changed. */
  validUntil: number | undefined;
}

const REQUEST_MS = 30_000;
const CONNECT_MS = 5000;
const PAGE = 1000;
const HTTPS = 443;
/** What services call a request of somebody they know, or of nobody, that they do not grant. */
const NOT_ALLOWED = ['AccessDenied', 'MethodNotAllowed', 'NotImplemented'];
const SERVICE_FAILED = 500;

/** The S3 service of one datasource, reached under the egress policy only. */
export class S3Storage {
  readonly #client: S3Client;
  readonly #endpoint: { host: string; port: number } | undefined;
  readonly #region: string;
  /** Whether requests would carry the identity of this machine. */
  readonly #asMachine: boolean;
  /** Whether requests say nothing of who asks. */
  readonly #unsigned: boolean;

  constructor(
    { endpoint, region = 'us-east-1', unsigned, urlStyle }: LakeOptions,
    { username, secret }: { username: string | null; secret: string | null },
    private readonly egress: EgressPolicy,
  ) {
    this.#endpoint = endpoint;
    this.#region = region;
    const lookup = egress.lookupFor(endpoint?.port ?? HTTPS);
    const known = !unsigned && username !== null && secret !== null;
    this.#asMachine = !unsigned && !known;
    this.#unsigned = unsigned;
    this.#client = new S3Client({
      region,
      forcePathStyle: urlStyle === undefined ? endpoint !== undefined : urlStyle === 'path',
      ...(endpoint ? { endpoint: `http://${endpoint.host}:${endpoint.port}` } : {}),
      // Without a credential the machine's own is looked for, as every AWS client does.
      ...(known ? { credentials: { accessKeyId: username, secretAccessKey: secret } } : {}),
      ...(unsigned
        ? {
            credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
            signer: { sign: (request) => Promise.resolve(request) },
          }
        : {}),
      maxAttempts: 2,
      followRegionRedirects: false,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        httpAgent: new HttpAgent({ keepAlive: true, maxSockets: 8, lookup }),
        httpsAgent: new HttpsAgent({ keepAlive: true, maxSockets: 8, lookup }),
        connectionTimeout: CONNECT_MS,
        requestTimeout: REQUEST_MS,
      },
    });
  }

  /** Every object whose key begins with the prefix, in pages. @throws DriverFailure */
  async *list(bucket: string, prefix: string, signal: AbortSignal): AsyncGenerator<StoredObject> {
    let token: string | undefined;
    do {
      const page = await this.#asked(() =>
        this.#client.send(
          new ListObjectsV2Command({
            Bucket: bucket,
            Prefix: prefix,
            MaxKeys: PAGE,
            ...(token === undefined ? {} : { ContinuationToken: token }),
          }),
          { abortSignal: signal },
        ),
      );
      for (const { Key, ETag, Size } of page.Contents ?? []) {
        if (Key !== undefined && ETag !== undefined) yield { key: Key, etag: ETag, bytes: Size ?? 0 };
      }
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  /** One object by its key; undefined when there is none. @throws DriverFailure */
  async find(bucket: string, key: string, signal: AbortSignal): Promise<StoredObject | undefined> {
    const head = await this.#asked(async () => {
      try {
        return await this.#client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }), { abortSignal: signal });
      } catch (error) {
        if (error instanceof NotFound) return undefined;
        throw error;
      }
    });
    return head?.ETag === undefined ? undefined : { key, etag: head.ETag, bytes: head.ContentLength ?? 0 };
  }

  /** One object of exactly this content, and no more bytes than it was listed with. @throws DriverFailure */
  async download(bucket: string, { key, etag, bytes }: StoredObject, file: string, signal: AbortSignal): Promise<void> {
    const { Body } = await this.#asked(() =>
      this.#client.send(new GetObjectCommand({ Bucket: bucket, Key: key, IfMatch: etag }), { abortSignal: signal }),
    );
    let seen = 0;
    await this.#asked(() =>
      pipeline(
        Body as Readable,
        async function* counted(source: AsyncIterable<Buffer>) {
          for await (const chunk of source) {
            seen += chunk.length;
            if (seen > bytes) break;
            yield chunk;
          }
        },
        createWriteStream(file, { flags: 'wx' }),
        { signal },
      ),
    );
    if (seen !== bytes)
      throw new DriverFailure('connection', 'An object came shorter or longer than it was listed.', {
        driverCode: 'S3_LENGTH',
      });
  }

  /** The bytes of a small object. @throws DriverFailure also when there is none, or more than `most` of them */
  async read(bucket: string, key: string, most: number, signal: AbortSignal): Promise<Buffer> {
    const { Body, ContentLength } = await this.#asked(() =>
      this.#client.send(new GetObjectCommand({ Bucket: bucket, Key: key }), { abortSignal: signal }),
    );
    const body = Body as Readable;
    const tooLarge = (): DriverFailure => {
      body.destroy();
      return new DriverFailure('connection', `The object is larger than ${most} bytes.`, { driverCode: 'S3_LENGTH' });
    };
    if (ContentLength !== undefined && ContentLength > most) throw tooLarge();
    const chunks: Buffer[] = [];
    let bytes = 0;
    return await this.#asked(async () => {
      for await (const chunk of addAbortSignal(signal, body) as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > most) throw tooLarge();
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    });
  }

  /**
   * The AWS identity of this machine, for an engine that signs by itself. Undefined where it is not to be sent.
   *
   * @throws DriverFailure when the machine has none
   */
  async machineIdentity(): Promise<MachineIdentity | undefined> {
    if (!this.#asMachine || this.#endpoint) return undefined;
    try {
      const { accessKeyId, secretAccessKey, sessionToken, expiration } = await this.#client.config.credentials();
      return { accessKeyId, secretAccessKey, sessionToken, validUntil: expiration?.getTime() };
    } catch (cause) {
      throw storageFailure(cause);
    }
  }

  /** @throws DriverFailure when what begins with the prefix cannot be listed */
  async answers(bucket: string, prefix: string, signal: AbortSignal): Promise<void> {
    const asked = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 });
    await this.#asked(() => this.#client.send(asked, { abortSignal: signal }));
  }

  /**
   * Asks for the list of buckets. Few credentials may read it: a service that says so knows who asks, which is all that
   * is wanted. Of nobody it has nothing to know, so any answer will do: AWS leads strangers on to its advertisement.
   *
   * @throws DriverFailure when the service does not answer or fails, or knows no such credential
   */
  async knowsCaller(signal: AbortSignal): Promise<void> {
    await this.#asked(async () => {
      try {
        await this.#client.send(new ListBucketsCommand({}), { abortSignal: signal });
      } catch (error) {
        if (!(error instanceof S3ServiceException) || !this.#isAnswer(error)) throw error;
      }
    });
  }

  #isAnswer({ name, $metadata: { httpStatusCode = SERVICE_FAILED } }: S3ServiceException): boolean {
    return NOT_ALLOWED.includes(name) || (this.#unsigned && httpStatusCode < SERVICE_FAILED);
  }

  /** An address that is no name never reaches the look-up, so it is judged before. */
  async #asked<T>(work: () => Promise<T>): Promise<T> {
    if (this.#endpoint && this.#asMachine)
      throw new DriverFailure(
        'permission',
        'An endpoint of its own needs a credential or unsigned: the AWS identity of this machine is not sent there in plain HTTP.',
        { driverCode: 'CREDENTIAL_NEEDED' },
      );
    const { host, port } = this.#endpoint ?? { host: `s3.${this.#region}.amazonaws.com`, port: HTTPS };
    try {
      await this.egress.check(host, port);
      return await work();
    } catch (error) {
      throw storageFailure(error);
    }
  }
}

function storageFailure(error: unknown): DriverFailure {
  if (error instanceof DriverFailure) return error;
  if (isPenstockError(error))
    return new DriverFailure('connection', 'This server does not connect to that address.', {
      driverCode: 'HOST_FORBIDDEN',
    });
  if (error instanceof HostUnresolved)
    return new DriverFailure('connection', error.message, { driverCode: 'ENOTFOUND' });
  if (error instanceof S3ServiceException) {
    const status = error.$metadata.httpStatusCode;
    return new DriverFailure(
      status === 403 ? 'permission' : 'connection',
      `The storage answered ${error.name}: ${error.message}`,
      {
        driverCode: error.name,
      },
    );
  }
  const { name, message, code } = error as { name?: string; message?: string; code?: string };
  return new DriverFailure('connection', `The storage did not answer: ${message ?? 'no reason given'}`, {
    driverCode: code ?? name ?? 'S3',
  });
}
