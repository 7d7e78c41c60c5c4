import type { Principal } from '#libs/kernel';
import type { Transaction } from '#libs/persistence';

/** Port: the published tree is the endpoints' own, but a key and its bindings are created in one transaction. */
export abstract class KeyBindingWriter {
  /**
   * Binds a new endpoint key to path prefixes.
   *
   * @throws `endpoint.path_invalid` for a prefix the workspace does not publish; the key is then not created either
   */
  abstract bind(tx: Transaction, principal: Principal, keyId: string, prefixes: readonly string[]): Promise<void>;
}
