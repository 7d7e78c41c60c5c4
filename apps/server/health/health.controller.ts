import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { writeJson } from '#libs/kernel';
import { Operation } from '../http/operation.decorator.js';
import { BuildInfo } from './build-info.js';
import { Readiness } from './readiness.js';

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
  async health(@Res() response: Response): Promise<void> {
    const components = await this.readiness.components();
    const status = Object.values(components).every((word) => word === 'UP') ? 'UP' : 'DOWN';
    send(response, 200, { status, version: this.build.version, components });
  }

  /** Readiness: 503 at boot, in a drain, or while a store is down. */
  @Get('/ready')
  @Operation('public')
  async ready(@Res() response: Response): Promise<void> {
    const answer = await this.readiness.judge();
    send(response, answer.ready ? 200 : 503, { status: answer.ready ? 'UP' : 'DOWN', ...answer.detail });
  }

  @Get('/info')
  @Operation('public')
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
