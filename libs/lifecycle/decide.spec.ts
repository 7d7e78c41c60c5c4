import { describe, it, expect } from '@jest/globals';
import fc from 'fast-check';
import { after, decide, type Verb, type VerbInputs } from './decide.js';
import {
  draftOf,
  entityStatus,
  highest,
  isEligible,
  working,
  type EntityState,
  type Posture,
} from './version-state.js';

const development: Posture = { authoringEnabled: true };
const receiver: Posture = { authoringEnabled: false };
const STATUS = { R: 'RELEASED', X: 'DISCARDED', D: 'DRAFT' } as const;

/** `1R 2D cur1` as contract 05 §10 writes states; a version's hash is `h<number>`. */
function state(text: string): EntityState {
  const versions = [...text.matchAll(/(\d+)([RXD])/g)].map((match) => ({
    version: Number(match[1]),
    status: STATUS[match[2] as keyof typeof STATUS],
    bodyHash: `h${match[1]}`,
  }));
  const pointer = /cur(\d+|∅)/.exec(text)?.[1];
  return { versions, currentVersion: pointer === undefined || pointer === '∅' ? null : Number(pointer) };
}

function show({ versions, currentVersion }: EntityState): string {
  const letters = { RELEASED: 'R', DISCARDED: 'X', DRAFT: 'D' };
  return [...versions.map((v) => `${v.version}${letters[v.status]}`), `cur${currentVersion ?? '∅'}`].join(' ');
}

function run<V extends Verb>(from: string, verb: V, input: VerbInputs[V], posture = development): string {
  const decision = decide(verb, state(from), input, posture);
  return decision.allowed ? show(after(state(from), decision, 'new')) : decision.reason;
}

describe('the version state machine', () => {
  it('moves the pointer as the worked rows say', () => {
    expect(run('1R 2D cur1', 'discard', { version: 1 })).toBe('1X 2D cur2');
    expect(run('1R 2R cur2', 'discard', { version: 2 })).toBe('1R 2X cur1');
    expect(run('1R cur1', 'discard', { version: 1 })).toBe('1X cur∅');
    expect(run('1X 2X cur∅', 'restore', { version: 1 })).toBe('1R 2X cur1');
    expect(run('1X 2R cur2', 'restore', { version: 1 })).toBe('1R 2R cur2');
    expect(run('1D cur∅', 'import', { bodyHash: 'i' })).toBe('1D 2R cur2');
    expect(run('1X 2D cur2', 'purge', { version: 2 })).toBe('1X cur∅');
    expect(run('1R 2R cur2', 'switch', { version: 1 })).toBe('1R 2R cur1');
    expect(run('1R 2R cur2', 'switch', { version: 1 }, receiver)).toBe('1R 2R cur1');
    expect(run('1D cur∅', 'switch', { version: 1 })).toBe('1D cur1');
    expect(run('1D cur∅', 'switch', { version: 1 }, receiver)).toBe('not_eligible');
  });

  it('derives DISCARDED only when no version is live, so a discarded pipeline can come back', () => {
    expect(entityStatus(state('1X 2X').versions)).toBe('DISCARDED');
    expect(entityStatus(state('1X 2D').versions)).toBe('ACTIVE');
    expect(entityStatus(state('1X 2R').versions)).toBe('ACTIVE');
  });

  it('takes the draft, then the pointer, as the working version – not the latest release', () => {
    expect(working(state('1R 2R 3D cur2'))?.version).toBe(3);
    expect(working(state('1R 2R cur1'))?.version).toBe(1);
    expect(working(state('1X 2X cur∅'))).toBeUndefined();
  });

  it('writes copy-on-write: a new draft over a release, in place over a draft, nothing for an equal body', () => {
    expect(run('1R cur1', 'write', { baseHash: 'h1', sameBody: false })).toBe('1R 2D cur1');
    expect(run('1R cur1', 'write', { baseHash: 'h1', sameBody: true })).toBe('1R cur1');
    expect(run('1R 2D cur1', 'write', { baseHash: 'h2', sameBody: false })).toBe('1R 2D cur1');
    expect(run('1R 2D cur1', 'write', { baseHash: 'h1', sameBody: false })).toBe('conflict');
    expect(run('1R cur1', 'write', { baseHash: 'other', sameBody: true })).toBe('conflict');
    expect(run('1X cur∅', 'write', { baseHash: 'h1', sameBody: false })).toBe('conflict');
    expect(run('1R 2R cur1', 'write', { baseHash: 'h1', sameBody: false })).toBe('1R 2R 3D cur1');
  });

  it('refuses each verb from each wrong status with the code of its guard', () => {
    expect(run('1R cur1', 'release', { baseHash: 'h1' })).toBe('not_draft');
    expect(run('1D cur∅', 'release', { baseHash: 'x' })).toBe('conflict');
    expect(run('1D cur∅', 'release', { baseHash: 'h1' })).toBe('1R cur1');
    expect(run('1R cur1', 'purge', { version: 1 })).toBe('last_release');
    expect(run('1X cur∅', 'purge', { version: 1 })).toBe('last_release');
    expect(run('1R 2D cur1', 'purge', { version: 2, baseHash: 'old' })).toBe('conflict');
    expect(run('1D cur∅', 'purge', { version: 1 })).toBe('cur∅');
    expect(run('1R 2D cur1', 'purgeEntity', {})).toBe('last_release');
    expect(run('1X cur∅', 'purgeEntity', {})).toBe('last_release');
    expect(run('1D cur∅', 'purgeEntity', {})).toBe('cur∅');
    expect(run('1D cur∅', 'discard', { version: 1 })).toBe('not_released');
    expect(run('1X cur∅', 'discard', { version: 1 })).toBe('not_released');
    expect(run('1R cur1', 'restore', { version: 1 })).toBe('not_discarded');
    expect(run('1R 2X cur1', 'switch', { version: 2 })).toBe('not_eligible');
    for (const verb of ['purge', 'discard', 'restore', 'switch'] as const) {
      expect(run('1R cur1', verb, { version: 9 })).toBe('not_found');
    }
  });

  it('imports idempotently, and never overwrites a number that stands for something else', () => {
    expect(run('1R cur1', 'import', { version: 1, bodyHash: 'h1' })).toBe('1R cur1');
    expect(run('1R cur1', 'import', { version: 1, bodyHash: 'zz' })).toBe('conflict');
    expect(run('1D cur∅', 'import', { version: 1, bodyHash: 'h1' })).toBe('conflict');
    expect(run('1X cur∅', 'import', { version: 1, bodyHash: 'h1' })).toBe('conflict');
    expect(run('1R cur1', 'import', { version: 7, bodyHash: 'n' })).toBe('1R 7R cur1');
    expect(run('', 'import', { version: 7, bodyHash: 'n' }, receiver)).toBe('7R cur7');
  });

  it('answers authoring_disabled before any other check on a deployment that only receives', () => {
    for (const verb of ['create', 'write', 'release', 'purge', 'purgeEntity', 'discard', 'restore'] as const) {
      expect(decide(verb, state('1X cur∅'), { version: 99, baseHash: '', sameBody: false }, receiver)).toEqual({
        allowed: false,
        reason: 'authoring_disabled',
      });
    }
  });
});

describe('the model', () => {
  const input = fc.record({
    verb: fc.constantFrom<Verb>(
      'create',
      'write',
      'release',
      'purge',
      'purgeEntity',
      'discard',
      'restore',
      'switch',
      'import',
    ),
    version: fc.integer({ min: 1, max: 5 }),
    sameBody: fc.boolean(),
    fresh: fc.boolean(),
    explicit: fc.boolean(),
  });

  it.each([
    ['development', development],
    ['receiver', receiver],
  ])('keeps its invariants over every sequence of verbs (%s)', (_name, posture) => {
    fc.assert(
      fc.property(fc.array(input, { maxLength: 40 }), (steps) => {
        let now: EntityState = { versions: [], currentVersion: null };
        let hashes = 0;
        for (const step of steps) {
          const base = step.fresh ? (working(now)?.bodyHash ?? 'none') : 'stale';
          const before = now;
          const decision = decide(
            step.verb,
            now,
            {
              version: step.verb === 'import' && !step.explicit ? undefined : step.version,
              baseHash: step.verb.startsWith('purge') ? undefined : base,
              sameBody: step.sameBody,
              bodyHash: `i${step.version}`,
            } as VerbInputs[Verb],
            posture,
          );
          if (!decision.allowed) continue;
          now = after(now, decision, step.verb === 'import' ? `i${step.version}` : `d${++hashes}`);
          expect(now.versions.filter(({ status }) => status === 'DRAFT').length).toBeLessThanOrEqual(1);
          if (!posture.authoringEnabled) expect(draftOf(now)).toBeUndefined();
          const pointed = now.versions.find(({ version }) => version === now.currentVersion);
          if (now.currentVersion !== null) expect(pointed && isEligible(pointed, posture)).toBe(true);
          const released = now.versions.filter(({ status }) => status === 'RELEASED');
          if (released.length > 0) expect(now.currentVersion).not.toBeNull();
          for (const old of before.versions.filter(({ status }) => status !== 'DRAFT')) {
            const later = now.versions.find(({ version }) => version === old.version);
            expect(later?.bodyHash).toBe(old.bodyHash);
            expect(later?.status).not.toBe('DRAFT');
          }
          expect(highest(now.versions, posture) === null).toBe(
            now.versions.every((candidate) => !isEligible(candidate, posture)),
          );
        }
      }),
      { numRuns: 2000 },
    );
  });
});
