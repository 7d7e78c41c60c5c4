import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { AuditModule } from '#libs/audit';
import { FAMILIES, InfrastructureModule, WiringModule } from './families.module.js';

/** What a thread for executions is composed of: the families without their doors. */
@Module({})
export class HostThreadModule {
  static with(infrastructure: Provider[]): DynamicModule {
    return {
      module: HostThreadModule,
      imports: [AuditModule, InfrastructureModule.with(infrastructure), WiringModule.create(), ...FAMILIES],
    };
  }
}
