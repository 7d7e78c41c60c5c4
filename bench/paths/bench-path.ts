import type { BenchDeployment } from '../deployment.js';
import type { Measurement } from '../measurement.js';
import type { BenchOptions } from '../options.js';

/** One path of the product that is measured; it makes what it needs. */
export interface BenchPath {
  name: string;
  about: string;
  measure(deployment: BenchDeployment, options: BenchOptions): Promise<Measurement[]>;
}
