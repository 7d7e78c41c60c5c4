import type { INestApplicationContext } from '@nestjs/common';
import { EgressPolicy } from '#libs/egress';
import { TransientStore } from '#libs/transient';

/** Nobody reaches our Redis as a datasource (04 §12); behind Sentinels it is another one after each failover. */
export function protectStore(app: INestApplicationContext): void {
  const store = app.get(TransientStore, { strict: false });
  app.get(EgressPolicy, { strict: false }).protect(() => {
    const { server } = store;
    return server && { rule: 'redis', ...server };
  });
}
