import { PenstockError } from '#libs/kernel';
import type { Dialect } from '#libs/typesystem';

import type { DialectDriver } from './dialect-driver.js';

/** The drivers of this process. A dialect without one keeps its word on stored rows and answers `driver_not_loaded`. */
export class DriverRegistry {
  readonly #drivers: ReadonlyMap<Dialect, DialectDriver>;

  readonly #unavailable: ReadonlyMap<Dialect, string>;

  /** @param unavailable dialects whose driver did not pass its self-test, and why */
  constructor(drivers: readonly DialectDriver[], unavailable: ReadonlyMap<Dialect, string> = new Map()) {
    this.#drivers = new Map(drivers.map((driver) => [driver.dialect, driver]));
    this.#unavailable = unavailable;
  }

  /** Why a dialect of this product cannot be used in this process. */
  get unavailable(): ReadonlyMap<Dialect, string> {
    return this.#unavailable;
  }

  find(dialect: Dialect): DialectDriver | undefined {
    return this.#drivers.get(dialect);
  }

  /** @throws 400 `datasource.driver_not_loaded` */
  get(dialect: Dialect): DialectDriver {
    const driver = this.#drivers.get(dialect);
    if (driver) return driver;
    throw new PenstockError('datasource.driver_not_loaded', {
      message: this.#unavailable.get(dialect) ?? `This server has no driver for ${dialect}.`,
      details: { dialect, loaded: [...this.#drivers.keys()] },
    });
  }
}
