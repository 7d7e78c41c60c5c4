import { isPenstockError } from '#libs/kernel';
import { invalidParams } from '../../protocol/rpc-error.js';

/**
 * A statement or an argument that a probe refuses before anything runs is a call to be changed, so it is answered as one:
 * −32602 (06 §9). Everything else passes.
 */
export async function wrongArgument<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isPenstockError(error) || error.code !== 'pipeline.execution.invalid_parameter_type') throw error;
    throw invalidParams(error.message, { argument: error.details['field'], reason: error.details['reason'] });
  }
}
