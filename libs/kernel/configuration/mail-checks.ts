import type { CheckFacts, CrossCheck } from './cross-checks.js';
import type { ConfigurationKey } from './table.js';

/** Keys that say something about a mail server, and nothing where there is none. */
const OF_A_SERVER = [
  'datapipelines.mail.username',
  'datapipelines.mail.password',
  'datapipelines.mail.message-stream',
] as const satisfies ConfigurationKey[];
/** Keys that say something about messages, and nothing where none are written. */
const OF_MESSAGES = ['datapipelines.mail.reply-to', 'datapipelines.mail.ops-to'] as const satisfies ConfigurationKey[];

const hasServer = ({ get }: CheckFacts): boolean => get('datapipelines.mail.host') !== undefined;
const hasSink = ({ get }: CheckFacts): boolean => get('datapipelines.mail.dev-sink-dir') !== undefined;

/** Mail that is half set up stops the boot: it would fail when somebody needs it (contract 04 §11). */
export const mailChecks: CrossCheck[] = [
  {
    keys: ['datapipelines.mail.from', 'datapipelines.mail.host'],
    problem: ({ get }) =>
      get('datapipelines.mail.host') !== undefined && get('datapipelines.mail.from') === undefined
        ? 'is required with mail.host'
        : undefined,
  },
  {
    keys: ['datapipelines.mail.host', 'datapipelines.mail.from', 'datapipelines.mail.dev-sink-dir'],
    problem: (facts) =>
      facts.get('datapipelines.mail.from') !== undefined && !hasServer(facts) && !hasSink(facts)
        ? 'is required with mail.from'
        : undefined,
  },
  {
    keys: ['datapipelines.mail.dev-sink-dir', 'datapipelines.mail.host'],
    problem: (facts) => (hasServer(facts) && hasSink(facts) ? 'and mail.host are both set; keep one' : undefined),
  },
  ...OF_A_SERVER.map((key): CrossCheck => ({
    keys: [key, 'datapipelines.mail.host'],
    problem: (facts) => (facts.get(key) !== undefined && !hasServer(facts) ? 'needs mail.host' : undefined),
  })),
  ...OF_MESSAGES.map((key): CrossCheck => ({
    keys: [key, 'datapipelines.mail.host', 'datapipelines.mail.dev-sink-dir'],
    problem: (facts) =>
      facts.get(key) !== undefined && !hasServer(facts) && !hasSink(facts) ? 'needs mail.host' : undefined,
  })),
  {
    keys: ['datapipelines.mail.password', 'datapipelines.mail.username'],
    problem: ({ get }) =>
      get('datapipelines.mail.password') !== undefined && get('datapipelines.mail.username') === undefined
        ? 'needs mail.username'
        : undefined,
  },
  {
    keys: ['datapipelines.auth.base-url', 'datapipelines.mail.host', 'datapipelines.mail.dev-sink-dir'],
    problem: (facts) =>
      (hasServer(facts) || hasSink(facts)) && facts.get('datapipelines.auth.base-url') === undefined
        ? 'is required with mail, whose links lead there'
        : undefined,
  },
];

/** What the hardened posture refuses. */
export const mailHardening: CrossCheck[] = [
  {
    keys: ['datapipelines.mail.starttls', 'datapipelines.mail.host'],
    problem: (facts) =>
      hasServer(facts) && !facts.get('datapipelines.mail.starttls') ? 'must be true when hardened' : undefined,
  },
  {
    keys: ['datapipelines.mail.username', 'datapipelines.mail.password'],
    problem: ({ get }) =>
      get('datapipelines.mail.username') !== undefined && get('datapipelines.mail.password') === undefined
        ? 'needs mail.password when hardened'
        : undefined,
  },
  {
    keys: ['datapipelines.mail.dev-sink-dir'],
    problem: (facts) => (hasSink(facts) ? 'is for development, which the hardened posture refuses' : undefined),
  },
];
