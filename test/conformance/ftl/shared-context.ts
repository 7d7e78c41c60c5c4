import { bool, decimal, int, text, type TestContext } from './rendering.js';

/** What the golden rows may use; the reference program has the same. */
export const SHARED_CONTEXT: TestContext = {
  x: bool(true),
  v: text('V'),
  i: int(1000),
  b: decimal(1250n, 2),
  xs: { origin: 'parameter', items: [text('p'), text('q'), text('r')] },
  h: {
    origin: 'parameter',
    fields: new Map([
      ['b', int(1)],
      ['a', int(2)],
    ]),
  },
};
