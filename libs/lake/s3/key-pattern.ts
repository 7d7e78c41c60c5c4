/**
 * Whether a key matches a pattern of `*`, `?`, `[…]` and, as a whole segment, `**`; everything else stands for itself, as
 * in the engine's own patterns. Patterns and keys are other people's: the work is at most the product of their lengths,
 * whatever they hold. A regular expression made of a pattern with six stars takes minutes for one key.
 */
export function keyMatcher(pattern: string): (key: string) => boolean {
  const segments = pattern.split('/').map((text) => (text === '**' ? ANY : segmentMatcher(text)));
  return (key) => matchesRun(segments, key.split('/'), (matches, segment) => matches(segment));
}

/** In a run of matchers: as many items as it takes, or none. */
const ANY = Symbol('any');

type Run<M> = readonly (M | typeof ANY)[];
type CharacterTest = (character: string) => boolean;

function segmentMatcher(text: string): (segment: string) => boolean {
  const tests = characterTests(text);
  return (segment) => matchesRun(tests, [...segment], (test, character) => test(character));
}

/** When it fails behind an ANY, only the last ANY takes one item more: an earlier one could reach no further than it. */
function matchesRun<M, T>(run: Run<M>, items: readonly T[], matches: (matcher: M, item: T) => boolean): boolean {
  let at = 0;
  let item = 0;
  let retry: { at: number; item: number } | undefined;
  while (item < items.length) {
    const matcher = run[at];
    if (matcher === ANY) {
      at += 1;
      retry = { at, item };
    } else if (matcher !== undefined && matches(matcher, items[item] as T)) {
      at += 1;
      item += 1;
    } else if (retry) {
      retry.item += 1;
      ({ at, item } = retry);
    } else return false;
  }
  while (run[at] === ANY) at += 1;
  return at === run.length;
}

function characterTests(text: string): Run<CharacterTest> {
  const tests: (CharacterTest | typeof ANY)[] = [];
  for (const [part, negated, members] of text.matchAll(/\[(!?)([^\]]+)\]|./gsu)) {
    if (part === '*') tests.push(ANY);
    else if (part === '?') tests.push(() => true);
    else if (members === undefined) tests.push((character) => character === part);
    else {
      const isMember = memberTest(members);
      tests.push((character) => isMember(character) !== (negated === '!'));
    }
  }
  return tests;
}

/** `abc` or `a-z`, mixed. */
function memberTest(members: string): CharacterTest {
  const ranges = [...members.matchAll(/(.)-(.)|./gsu)].map(([one, from, to]) => ({ from: from ?? one, to: to ?? one }));
  return (character) => ranges.some(({ from, to }) => character >= from && character <= to);
}
