import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { writeJson } from '#libs/kernel';
import { Operation } from '../http/operation.decorator.js';
import { BuildInfo } from './build-info.js';
import { Readiness } from './readiness.js';
import { z } from 'zod';
import { Describe, raw } from '../http/describe.decorator.js';

const word = z.enum(['UP', 'DOWN']);
const components = z.object({ database: word, redis: word, staging: word, h2_factory: word });
const readiness = z.object({ status: word, phase: z.enum(['starting', 'serving', 'draining']), components });

/** Probes for orchestrators; no host names, no envelope (03 §8). */
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly build: BuildInfo,
  ) {}

  /** Liveness: 200 while the event loop answers, whatever its stores do. */
  @Get('/health')
  @Operation('public')
  @Describe('Tell that the process answers, and how its stores do.', {
    answers: {
      200: raw(
        'application/json',
        'Alive, whatever the stores say.',
        z.object({ status: word, version: z.string(), components }),
      ),
    },
    errors: [],
  })
  async health(@Res() response: Response): Promise<void> {
    const components = await this.readiness.components();
    const status = Object.values(components).every((word) => word === 'UP') ? 'UP' : 'DOWN';
    send(response, 200, { status, version: this.build.version, components });
  }

  /** Readiness: 503 at boot, in a drain, or while a store is down. */
  @Get('/ready')
  @Operation('public')
  @Describe('Tell whether to send traffic here.', {
    answers: {
      200: raw('application/json', 'Yes.', readiness),
      503: raw('application/json', 'No: starting, draining, or a store is down.', readiness),
    },
    errors: [],
  })
  async ready(@Res() response: Response): Promise<void> {
    const answer = await this.readiness.judge();
    send(response, answer.ready ? 200 : 503, { status: answer.ready ? 'UP' : 'DOWN', ...answer.detail });
  }

  @Get('/info')
  @Operation('public')
  @Describe('Tell which build this is.', {
    answers: {
      200: raw(
        'application/json',
        'The build.',
        z.object({ version: z.string(), build_time: z.string(), commit: z.string().optional() }),
      ),
    },
    errors: [],
  })
  info(@Res() response: Response): void {
    send(response, 200, this.build);
  }
}

function send(response: Response, status: number, body: object): void {
  response.status(status);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  response.end(writeJson({ ...body }));
}
