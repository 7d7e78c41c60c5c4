import DataLoader from 'dataloader';
import { readTogether, type Principal } from '#libs/kernel';

/** More keys than this are read in several statements. */
const MAX_BATCH = 200;

/**
 * How one kind of lookup is read for many parents at once. `read` carries the workspace's predicate itself; what is
 * absent or invisible is absent from its map.
 */
export class Batch<K, V> {
  constructor(
    readonly read: (principal: Principal, keys: readonly K[]) => Promise<ReadonlyMap<string, V>>,
    readonly nameOf: (key: K) => string = String,
  ) {}
}

/** The loaders of one operation: what two parents ask for is read once, and together. */
export class Loaders {
  readonly #loaders = new Map<unknown, DataLoader<unknown, unknown, string>>();

  constructor(private readonly principal: Principal) {}

  load<K, V>(batch: Batch<K, V>, key: K): Promise<V | undefined> {
    let loader = this.#loaders.get(batch) as DataLoader<K, V | undefined, string> | undefined;
    if (!loader) {
      loader = new DataLoader<K, V | undefined, string>(
        async (keys) => {
          const found = await readTogether(() => batch.read(this.principal, keys));
          return keys.map((each) => found.get(batch.nameOf(each)));
        },
        { maxBatchSize: MAX_BATCH, cacheKeyFn: (each) => batch.nameOf(each) },
      );
      this.#loaders.set(batch, loader as DataLoader<unknown, unknown, string>);
    }
    return loader.load(key);
  }
}
