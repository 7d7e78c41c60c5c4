import { Injectable } from '@nestjs/common';
import { StagingHealth } from '#libs/executions';
import { MetadataHealth } from './metadata-health.js';
import { TransientStore } from '#libs/transient';

export type Word = 'UP' | 'DOWN';

export interface Components {
  database: Word;
  redis: Word;
  staging: Word;
  /** The original's name for its staging factory; the same engine answers. */
  h2_factory: Word;
}

/** Probes come from anybody, and often: they share one look at the stores for this long. */
const FRESH_MS = 1000;
/** A component that does not answer within this is down. */
const CHECK_MS = 2000;

/** Whether this instance should be sent traffic. */
@Injectable()
export class Readiness {
  #phase: 'starting' | 'serving' | 'draining' = 'starting';
  #looked = 0;
  #components: Promise<Components> | undefined;

  constructor(
    private readonly metadata: MetadataHealth,
    private readonly transient: TransientStore,
    private readonly staging: StagingHealth,
  ) {}

  serve(): void {
    this.#phase = 'serving';
  }

  drain(): void {
    this.#phase = 'draining';
  }

  components(): Promise<Components> {
    const now = performance.now();
    if (!this.#components || now - this.#looked >= FRESH_MS) {
      this.#looked = now;
      this.#components = this.#look();
    }
    return this.#components;
  }

  async #look(): Promise<Components> {
    const [database, redis, staging] = await Promise.all([
      word(() => this.metadata.check()),
      word(() => this.transient.health()),
      word(() => this.staging.check()),
    ]);
    return { database, redis, staging, h2_factory: staging };
  }

  async judge(): Promise<{ ready: boolean; detail: { phase: string; components: Components } }> {
    const components = await this.components();
    const up = Object.values(components).every((each) => each === 'UP');
    return { ready: up && this.#phase === 'serving', detail: { phase: this.#phase, components } };
  }
}

async function word(check: () => Promise<unknown>): Promise<Word> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'DOWN'>((resolve) => {
    timer = setTimeout(() => resolve('DOWN'), CHECK_MS);
  });
  const answered = check().then(
    () => 'UP' as const,
    () => 'DOWN' as const,
  );
  try {
    return await Promise.race([answered, late]);
  } finally {
    clearTimeout(timer);
  }
}
