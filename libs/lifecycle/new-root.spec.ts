import { describe, expect, it } from '@jest/globals';
import { newRootRefusal } from './new-root.js';

describe('a new top-level folder', () => {
  it('is refused with the ones there are, so that an agent finds the right one', () => {
    const refused = newRootRefusal('pipeline', 'sale/daily/orders', ['sales', 'fleet']);
    expect([refused?.code, refused?.status, refused?.details]).toEqual([
      'pipeline.validation.new_root_requires_confirmation',
      400,
      { root: 'sale', existing_roots: ['sales', 'fleet'] },
    ]);
    expect(newRootRefusal('template', 'sale/x', [])?.code).toBe('template.validation.new_root_requires_confirmation');
  });

  it('is no matter below a known one, in the folder for trials, and for a name that has none', () => {
    expect(newRootRefusal('pipeline', 'sales/new/orders', ['sales'])).toBeUndefined();
    expect(newRootRefusal('pipeline', 'test/orders', [])).toBeUndefined();
    expect(newRootRefusal('pipeline', 'orders', [])).toBeUndefined();
  });

  it('names at most a hundred roots', () => {
    const roots = Array.from({ length: 500 }, (_, at) => `r${at}`);
    expect((newRootRefusal('pipeline', 'x/y', roots)?.details['existing_roots'] as string[]).length).toBe(100);
  });
});
