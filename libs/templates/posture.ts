import { Configuration } from '#libs/kernel';
import type { Posture } from '#libs/lifecycle';

/** Whether drafts may be written here (contract 05 §13). */
export function postureOf(configuration: Configuration): Posture {
  return { authoringEnabled: configuration.get('datapipelines.deployment.authoring-enabled') };
}
