import { describe, expect, it } from '@jest/globals';

import { lakeIntrospection } from './lake-introspection.js';

describe('what a lake may hold that its engine does not show', () => {
  /** The engine as it was built: the table `sales.orders`, with this id. */
  const built = (id: string) => () => Promise.resolve([['["sales"]', 'orders', id]]);
  const table = (name: string, namespace = ['sales'], column: string | null = null) => ({ namespace, name, column });

  it('is what was registered since, and of a table registered anew each column: facts about them are not stale', async () => {
    const registered = [
      { id: '2', namespace: ['sales'], name: 'orders' },
      { id: '3', namespace: ['sales'], name: 'items' },
      { id: '4', namespace: ['sales', 'eu'], name: 'items' },
    ];
    const asked: string[] = [];
    const { mayHold } = lakeIntrospection((datasource) => {
      asked.push(datasource);
      return Promise.resolve(registered);
    });
    const names = [
      table('items'),
      table('items', ['sales', 'eu']),
      table('orders', ['sales'], 'total'),
      table('items', ['eu']),
      table('gone'),
    ];
    expect(await mayHold?.(built('1'), names, 'lake')).toEqual([true, true, true, false, false]);
    expect(await mayHold?.(built('2'), [table('orders', ['sales'], 'total')], 'lake')).toEqual([false]);
    expect(asked).toEqual(['lake', 'lake']);
    const { hidesColumns } = lakeIntrospection(() => Promise.resolve(registered));
    expect(await hidesColumns?.(built('1'), table('orders'), 'lake')).toBe(true);
    expect(await hidesColumns?.(built('2'), table('orders'), 'lake')).toBe(false);
  });
});
