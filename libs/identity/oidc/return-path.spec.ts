import { expect, it } from '@jest/globals';
import { returnPath } from './return-path.js';

it.each(['/', '/pipelines', '/pipelines?tab=1&x=%2F%2F#top', '/a//b', `/${'a'.repeat(1023)}`])(
  'sends people back to %j, a path of ours',
  (path) => {
    expect(returnPath(path)).toBe(path);
  },
);

it.each([
  ['another host', '//evil.example'],
  ['another host, as browsers read a backslash', '/\\evil.example'],
  ['a backslash anywhere', '/a\\b'],
  ['another host behind a tab that browsers drop', '/\t/evil.example'],
  ['another host behind a newline that browsers drop', '/\n/evil.example'],
  ['a header of its own', '/a\r\nSet-Cookie: x'],
  ['a space', '/a b'],
  ['what is not ASCII', '/ä'],
  ['a whole address', 'https://evil.example/'],
  ['a script', 'javascript:alert(1)'],
  ['a relative path', 'pipelines'],
  ['nothing', ''],
  ['a path without end', `/${'a'.repeat(1024)}`],
  ['no text', ['/a']],
  ['an absent one', null],
])('sends people home instead of to %s', (_what, wanted) => {
  expect(returnPath(wanted)).toBe('/');
});
