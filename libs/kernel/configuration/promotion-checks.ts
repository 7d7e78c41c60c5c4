import type { CrossCheck } from './cross-checks.js';

const BASE_URL = 'datapipelines.deployment.promotion.target.base-url';
const SERVER_KEY = 'datapipelines.deployment.promotion.target.server-key';

/** A target is an address and the key for it (contract 05 §13); the key never crosses a network in the clear. */
export const promotionChecks: CrossCheck[] = [
  {
    keys: [SERVER_KEY, BASE_URL],
    problem: ({ get }) =>
      get(BASE_URL) !== undefined && get(SERVER_KEY) === undefined
        ? 'is required with deployment.promotion.target.base-url'
        : undefined,
  },
  {
    keys: [BASE_URL, SERVER_KEY],
    problem: ({ get }) =>
      get(SERVER_KEY) !== undefined && get(BASE_URL) === undefined
        ? 'is required with deployment.promotion.target.server-key'
        : undefined,
  },
  {
    keys: [BASE_URL],
    problem: ({ get, hardened }) =>
      hardened && get(BASE_URL)?.startsWith('http:')
        ? 'must be https under the hardened posture: the key is sent there'
        : undefined,
  },
];
