import type { FooterNode } from './footer-node.js';
import { keepsValues } from './kept-values.js';

/** How the columns of one file do not fit those the engine gives a table. */
export interface Misfit {
  /** Of a member with its column, `s.a`. */
  column: string;
  /** The engine's types; undefined: the file has no such column. */
  stored?: string;
  read?: string;
}

/**
 * The engine gives a table the columns of its first file. A column that another file has not makes queries fail; one of
 * another type is cast, whatever that does to its values. Columns that only the other file has are not seen.
 *
 * @param partitions names of columns that come out of the folders' names
 * @returns undefined when every value is read as it is
 */
export function misfitOf(first: FooterNode, other: FooterNode, partitions: ReadonlySet<string>): Misfit | undefined {
  for (const column of first.children) {
    if (partitions.has(column.name.toLowerCase())) continue;
    const stored = named(other.children, column.name);
    const misfit = stored ? misread(column, stored, column.name) : { column: column.name };
    if (misfit) return misfit;
  }
  return undefined;
}

/** The engine tells columns apart without regard to case. */
function named(nodes: readonly FooterNode[], name: string): FooterNode | undefined {
  return nodes.find((node) => node.name.toLowerCase() === name.toLowerCase());
}

function misread(read: FooterNode, stored: FooterNode, column: string): Misfit | undefined {
  const shapes = [shapeOf(read), shapeOf(stored)] as const;
  if (shapes[0] !== shapes[1]) return { column, stored: called(stored), read: called(read) };
  switch (shapes[0]) {
    case 'plain': {
      if (stored.kind.startsWith('NullType') || keepsValues(stored.type ?? '', read.type ?? '')) return undefined;
      return { column, stored: called(stored), read: called(read) };
    }
    case 'variant':
      // What it holds is written in each value; the columns beside it differ from file to file.
      return undefined;
    case 'struct':
      // A member that is not in a file is NULL there.
      return read.children
        .map((member) => {
          const other = named(stored.children, member.name);
          return other && misread(member, other, `${column}.${member.name}`);
        })
        .find((misfit) => misfit !== undefined);
    default:
      return partsOf(read)
        .map((part, index) => {
          const other = partsOf(stored)[index];
          return other && misread(part, other, `${column}.${part.name}`);
        })
        .find((misfit) => misfit !== undefined);
  }
}

function shapeOf({ children, kind, repeated }: FooterNode): 'plain' | 'struct' | 'list' | 'map' | 'variant' {
  if (repeated || kind.startsWith('LIST') || kind.startsWith('ListType')) return 'list';
  if (kind.startsWith('MAP') || kind.startsWith('MapType')) return 'map';
  if (children.length === 0) return 'plain';
  const bytes = ['metadata', 'value'].every((part) =>
    children.some(({ name, type }) => name === part && type === 'BLOB'),
  );
  return bytes ? 'variant' : 'struct';
}

/** The element of a list, in the form of two levels or of three; key and value of a map. */
function partsOf(node: FooterNode): readonly FooterNode[] {
  if (node.repeated) return [{ ...node, repeated: false }];
  const [middle] = node.children;
  if (!middle) return [];
  const isElement = shapeOf(node) === 'list' && middle.children.length !== 1;
  return isElement ? [{ ...middle, repeated: false }] : middle.children;
}

function called(node: FooterNode): string {
  const shape = shapeOf(node);
  return shape === 'plain' ? (node.type ?? '') : `a ${shape}`;
}
