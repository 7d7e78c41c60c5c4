import { expect, it } from '@jest/globals';
import { PenstockError } from '#libs/kernel';
import { normalEmail } from './email.js';

it.each([
  ['  Ada@Example.ORG\t', 'ada@example.org'],
  ['ÄDA@example.org', 'äda@example.org'],
  ['a\u0308da@example.org', 'äda@example.org'],
  ["o'brien+tag@sub.example.co", "o'brien+tag@sub.example.co"],
  [`${'a'.repeat(242)}@example.org`, `${'a'.repeat(242)}@example.org`],
])('%j and %j are one address, however it is written', (written, stored) => {
  expect(normalEmail(written)).toBe(stored);
  expect(normalEmail(stored)).toBe(stored);
});

it.each([
  ['nothing', ''],
  ['no @', 'ada.example.org'],
  ['two of them', 'ada@x@example.org'],
  ['nobody before it', '@example.org'],
  ['nothing behind it', 'ada@'],
  ['a space inside', 'a da@example.org'],
  ['a line break, which would forge a header', 'ada@example.org\r\nBcc: eve@example.org'],
  ['NUL', 'a\0da@example.org'],
  ['an invisible control', 'a\u200bda@example.org'],
  ['255 characters', `${'a'.repeat(243)}@example.org`],
])('an address with %s is refused and named by its field', (_what, text) => {
  const refusal = (() => {
    try {
      return normalEmail(text);
    } catch (error) {
      return error;
    }
  })();
  expect(refusal).toBeInstanceOf(PenstockError);
  expect(refusal).toMatchObject({ code: 'auth.user.email_invalid', status: 400, details: { field: 'email' } });
});
