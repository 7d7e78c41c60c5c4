import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Ancestry } from './ancestry.js';

const nodes = (edges: readonly (readonly number[])[]) =>
  edges.map((parents, index) => ({ id: `n${index}`, dependsOn: parents.map((parent) => `n${parent}`) }));

/** The plain way: from a node up. */
function above(edges: readonly (readonly number[])[], start: number): Set<number> {
  const seen = new Set<number>();
  const open = [...edges[start]!];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    open.push(...edges[node]!);
  }
  return seen;
}

describe('the order of nodes', () => {
  it('is what walking up from every node finds, in graphs of any shape', () => {
    // Edges go to lower numbers, so that there is no circle; the positions are then turned round.
    const graph = fc
      .integer({ min: 1, max: 80 })
      .chain((size) =>
        fc.tuple(
          ...Array.from({ length: size }, (_, node) =>
            node === 0 ? fc.constant<number[]>([]) : fc.array(fc.nat({ max: node - 1 }), { maxLength: 6 }),
          ),
        ),
      );
    fc.assert(
      fc.property(graph, (edges: number[][]) => {
        const last = edges.length - 1;
        const turned = edges.map((_, node) => edges[last - node]!.map((parent) => last - parent));
        const ancestry = Ancestry.of(nodes(turned));
        for (let node = 0; node <= last; node++) {
          const found = turned.flatMap((_, other) => (ancestry.precedes(other, node) ? [other] : []));
          expect(found).toEqual([...above(turned, node)].sort((a, b) => a - b));
        }
      }),
      { numRuns: 100, seed: 7 },
    );
  });

  it('is open in circles and behind them, and unknown or repeated ids are passed over', () => {
    const ancestry = Ancestry.of([
      { id: 'a', dependsOn: ['b'] },
      { id: 'b', dependsOn: ['a'] },
      { id: 'c', dependsOn: ['b'] },
      { id: 'd', dependsOn: ['nowhere', '__proto__'] },
      { id: 'd', dependsOn: ['d'] },
      { dependsOn: ['d'] },
    ]);
    expect([ancestry.precedes(3, 0), ancestry.precedes(3, 2)]).toEqual([true, true]);
    expect([ancestry.precedes(0, 3), ancestry.precedes(3, 4), ancestry.precedes(3, 5)]).toEqual([false, true, true]);
    expect(ancestry.precedes(4, 5)).toBe(false);
  });
});
