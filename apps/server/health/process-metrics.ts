import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Injectable } from '@nestjs/common';
import { Gauge, register } from 'prom-client';
import { AuditObserver } from '#libs/audit';
import { AccessTrail } from '#libs/identity';
import { RedisTransientStore, TransientStore } from '#libs/transient';
import { counter, rejections } from './error-metrics.js';
import { operations } from './operation-metrics.js';

const NANOSECONDS = 1e9;

/** What the process counts by itself, read when somebody scrapes (02 §12, 04 §10). */
@Injectable()
export class ProcessMetrics {
  readonly #delay = monitorEventLoopDelay({ resolution: 10 });

  constructor(trail: AccessTrail, observer: AuditObserver, store: TransientStore) {
    this.#delay.enable();
    counter();
    rejections();
    operations();
    scraped('datapipelines_eventloop_delay_seconds', 'Event loop delay, 99th percentile since the last scrape.', () => {
      const p99 = this.#delay.percentile(99) / NANOSECONDS;
      this.#delay.reset();
      return p99;
    });
    scraped('datapipelines_redis_noeviction', '0 once Redis was seen to evict keys or to be told to.', () =>
      store instanceof RedisTransientStore && !store.keepsKeys ? 0 : 1,
    );
    scraped(
      'datapipelines_auth_malformed_keys',
      'Keys refused for their shape since the start.',
      () => trail.malformedKeys,
    );
    scraped(
      'datapipelines_audit_denials_left_out',
      'Refusals of one caller beyond sixty a minute, which stand in no audit row.',
      () => trail.denialsLeftOut,
    );
    scraped(
      'datapipelines_audit_rows_lost',
      'Audit rows about refusals that could not be written.',
      () => observer.failures,
    );
  }
}

function scraped(name: string, help: string, read: () => number): void {
  register.removeSingleMetric(name);
  new Gauge({
    name,
    help,
    collect() {
      this.set(read());
    },
  });
}
