import { setTimeout as delay } from 'node:timers/promises';
import { ApiClient } from '../../test/fixtures/api-client.js';
import { benchRows, COLUMNS } from '../bench-rows.js';
import { releasedPipeline, releasedTemplate } from '../content.js';
import { SOURCE, type Credentials } from '../deployment.js';
import { closedLoop, medianLoad } from '../load/closed-loop.js';
import { KeepAliveClient } from '../load/keep-alive-client.js';
import { repeat } from '../load/repeat.js';
import type { BenchPath } from './bench-path.js';

const CLIENTS = 16;
const LOGINS_PER_MINUTE = 200;

export const loginsBesideEndpoint: BenchPath = {
  name: 'logins-beside-endpoint',
  about: 'a published endpoint while 200 people a minute sign in with a password, against the same without them',
  async measure({ author, admin, server, sourceUrl, people }, options) {
    await benchRows(sourceUrl, 1000);
    const body = `SELECT ${COLUMNS} FROM bench_rows WHERE id BETWEEN 1 AND 10 ORDER BY id`;
    await releasedTemplate(author, 'bench/logins/rows.sql', 'POSTGRES', body);
    await releasedPipeline(author, 'bench/logins/run', [
      {
        id: 'read',
        type: 'DQL',
        source: SOURCE,
        template: { id: 'bench/logins/rows.sql', version: 1 },
        output: { target: 'caller' },
      },
    ]);
    await author.data('POST', '/api/v1/endpoints', { path: '/bench-logins/rows', pipeline: 'bench/logins/run' });
    const { key } = await admin.data('POST', '/api/v1/auth/api-keys', {
      name: 'bench logins',
      kind: 'endpoint',
      bindings: ['/bench-logins'],
    });
    const client = new KeepAliveClient(server.baseUrl, CLIENTS);
    const call = { method: 'GET', path: '/api/x/bench-logins/rows', headers: { 'DP-API-Key': key as string } };
    const calls = () => closedLoop(CLIENTS, options.seconds, () => client.send(call));
    const latencies: number[] = [];
    try {
      const turns = await repeat(options.runs, async () => {
        const alone = await calls();
        const logins = new Logins(server.baseUrl, people, latencies);
        const beside = await calls();
        await logins.end();
        return { alone, beside };
      });
      const [alone, beside] = [
        medianLoad(turns.map((turn) => turn.alone)),
        medianLoad(turns.map((turn) => turn.beside)),
      ];
      return [
        {
          path: `published endpoint, 16 clients, beside ${LOGINS_PER_MINUTE} sign-ins a minute`,
          unit: 'calls/s',
          better: 'higher',
          value: beside.perSecond,
          limit: { what: 'the same without them', value: alone.perSecond },
          asked: { of: 'ratio', good: 0.8, great: 0.95 },
          note: `p99 ${beside.p99.toFixed(0)} ms beside, ${alone.p99.toFixed(0)} ms alone; a sign-in took ${mean(latencies).toFixed(0)} ms`,
        },
      ];
    } finally {
      client.close();
    }
  },
};

/** Sign-ins at a fixed pace, whether or not the last one is done, as people come. */
class Logins {
  readonly #stop = new AbortController();
  readonly #underWay: Promise<void>[] = [];
  readonly #pace: Promise<void>;

  constructor(
    private readonly baseUrl: string,
    private readonly people: readonly Credentials[],
    private readonly latencies: number[],
  ) {
    this.#pace = this.#run();
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#pace;
    await Promise.all(this.#underWay);
  }

  async #run(): Promise<void> {
    for (let nth = 0; !this.#stop.signal.aborted; nth++) {
      this.#underWay.push(this.#signIn(this.people[nth % this.people.length] as Credentials));
      await delay(60_000 / LOGINS_PER_MINUTE);
    }
  }

  async #signIn({ email, password }: Credentials): Promise<void> {
    const begun = performance.now();
    const answer = await new ApiClient(this.baseUrl).login(email, password);
    if (answer.status !== 200) throw new TypeError(`${email} could not sign in: ${answer.text}`);
    this.latencies.push(performance.now() - begun);
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}
