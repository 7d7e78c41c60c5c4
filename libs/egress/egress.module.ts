import { Module } from '@nestjs/common';
import { Configuration } from '#libs/kernel';
import { EgressPolicy } from './egress-policy.js';
import { egressRules } from './egress-rules.js';

/** Needs `Configuration` of the infrastructure, with the URL of the metadata database that is really used. */
@Module({
  providers: [
    {
      provide: EgressPolicy,
      useFactory: (config: Configuration) => new EgressPolicy(egressRules(config)),
      inject: [Configuration],
    },
  ],
  exports: [EgressPolicy],
})
export class EgressModule {}
