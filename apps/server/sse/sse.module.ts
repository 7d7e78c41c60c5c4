import { Module } from '@nestjs/common';
import { IdentityModule } from '#libs/identity';
import { Configuration } from '#libs/kernel';
import { Heartbeats } from './heartbeats.js';
import { StandingRight } from './standing-right.js';

/** What every door that streams shares. */
@Module({
  imports: [IdentityModule],
  providers: [
    StandingRight,
    {
      provide: Heartbeats,
      inject: [Configuration],
      useFactory: (configuration: Configuration) =>
        new Heartbeats(configuration.get('datapipelines.sse.heartbeat-interval-seconds') * 1000),
    },
  ],
  exports: [Heartbeats, StandingRight],
})
export class SseModule {}
