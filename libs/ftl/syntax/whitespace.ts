import type { LineMap } from './line-map.js';
import { blocksOf, type Block, type Node, type TextNode } from './nodes.js';

/** A place in the tree: a node, or one branch of a node with several. `node` null: the root or a branch. */
interface Place {
  node: Node | null;
  parent: Place | null;
  children: Place[];
  before: Place | null;
  after: Place | null;
  /** The macro, capture or root around it: trim tags inside of one do not reach out of it. */
  region: Place;
  startLine: number;
  endLine: number;
}

const BLANK = /^\s*$/;
const isBlank = (text: string): boolean => BLANK.test(text);

/**
 * FreeMarker's white-space stripping (contract 05 §4.4): a line of tags and blanks only disappears with its newline;
 * `<#t> <#lt> <#rt> <#nt>` trim or keep their line. The very first text run of a template keeps its indentation.
 * Changes the text nodes in place and drops the ones that become empty.
 */
export function stripWhitespace(root: Block, lines: LineMap): void {
  new Stripper(lines).strip(root);
}

class Stripper {
  readonly #trims = new Map<Place, Map<number, LineTrims>>();

  constructor(readonly lines: LineMap) {}

  strip(root: Block): void {
    const place = newPlace(null, null, 1, 1);
    this.#grow(place, root);
    this.#clean(place, root);
  }

  #grow(parent: Place, block: Block): void {
    for (const node of block) {
      const startLine = this.lines.line(node.start);
      const place = newPlace(node, parent, startLine, this.lines.line(Math.max(node.start, node.end - 1)));
      if (node.kind === 'trim') this.#noteTrim(place, node);
      const blocks = blocksOf(node);
      if (blocks.length === 1) this.#grow(place, blocks[0]!);
      else blocks.forEach((inner, i) => this.#grow(this.#branch(place, node, i), inner));
    }
  }

  /** A branch with its own lines: an empty one is a leaf of the line its tag stands on. */
  #branch(parent: Place, node: Node, index: number): Place {
    const branches = node.kind === 'if' ? node.branches : node.kind === 'switch' ? node.cases : null;
    const span = branches?.[index];
    if (span)
      return newPlace(null, parent, this.lines.line(span.start), this.lines.line(Math.max(span.start, span.end - 1)));
    // As the reference engine has it: an empty `attempt` body stands on no line, the body of a list with an else reaches
    // to the end of the list.
    if (node.kind === 'attempt' && index === 0) return newPlace(null, parent, 0, 0);
    const last = index === 0 && node.kind !== 'list' ? parent.startLine : parent.endLine;
    return newPlace(null, parent, index === 0 ? parent.startLine : last, last);
  }

  #noteTrim(place: Place, node: TrimNode): void {
    const lines = this.#trims.get(place.region) ?? new Map<number, LineTrims>();
    this.#trims.set(place.region, lines);
    const known = lines.get(place.startLine) ?? { lastLeft: -1, lastKeep: -1, rightsBefore: 0, keepsBefore: 0 };
    lines.set(place.startLine, known);
    if (node.left) known.lastLeft = node.start;
    if (!node.left && !node.right) known.lastKeep = node.start;
  }

  /** Trim tags a text sees on a line: those of its own region and the regions around it. */
  #trimsSeen(place: Place, line: number): LineTrims | null {
    let seen: LineTrims | null = null;
    for (let region: Place | null = place.region; region; region = region.parent && region.region) {
      const here = this.#trims.get(region)?.get(line);
      if (!here) continue;
      seen = seen
        ? {
            lastLeft: Math.max(seen.lastLeft, here.lastLeft),
            lastKeep: Math.max(seen.lastKeep, here.lastKeep),
            rightsBefore: seen.rightsBefore + here.rightsBefore,
            keepsBefore: seen.keepsBefore + here.keepsBefore,
          }
        : here;
    }
    return seen;
  }

  #clean(place: Place, block: Block): void {
    for (const child of place.children) {
      if (child.node?.kind === 'text') this.#stripText(child, child.node);
      else if (child.node?.kind === 'trim') this.#passTrim(child, child.node, 1);
      else if (child.node) this.#cleanBlocks(child, blocksOf(child.node));
    }
    place.children = place.children.filter((child) => {
      if (!vanishes(child)) return true;
      // A trim tag reaches no further than the block it stands in.
      if (child.node?.kind === 'trim') this.#passTrim(child, child.node, -1);
      if (child.before) child.before.after = child.after;
      if (child.after) child.after.before = child.before;
      return false;
    });
    block.splice(0, block.length, ...place.children.flatMap(({ node }) => (node ? [node] : [])));
  }

  #passTrim(place: Place, node: TrimNode, step: 1 | -1): void {
    const trims = this.#trims.get(place.region)?.get(place.startLine);
    if (!trims) return;
    if (node.right) trims.rightsBefore += step;
    if (!node.left && !node.right) trims.keepsBefore += step;
  }

  #cleanBlocks(place: Place, blocks: Block[]): void {
    if (blocks.length === 1) this.#clean(place, blocks[0]!);
    else blocks.forEach((inner, i) => this.#clean(place.children[i]!, inner));
  }

  #stripText(place: Place, node: TextNode): void {
    if (node.text === '') return;
    const line: TextLine = { place, node, atLineStart: this.lines.position(node.start).column === 1 };
    const keepLeft = trimLastLine(line, this.#trimsSeen(place, place.endLine));
    const keepRight = trimFirstLine(
      line,
      this.#trimsSeen(place, place.startLine),
      this.#trimsSeen(place, place.endLine),
    );
    if (node.text === '' || (atTop(place) && place.before === null)) return;
    const tail = keepLeft ? 0 : blankTail(line);
    const head = keepRight ? 0 : blankHead(line);
    if (head > 0) place.startLine++;
    node.text = head + tail >= node.text.length ? '' : node.text.slice(head, node.text.length - tail);
  }
}

/** The trim tags of one line; asking them is O(1), so a long line stays linear. */
interface LineTrims {
  /** Offsets of the last tag that trims to the left, and of the last that keeps. */
  lastLeft: number;
  lastKeep: number;
  /** Tags already passed that still count. */
  rightsBefore: number;
  keepsBefore: number;
}

type TrimNode = Extract<Node, { kind: 'trim' }>;

function newPlace(node: Node | null, parent: Place | null, startLine: number, endLine: number): Place {
  const before = parent?.children.at(-1) ?? null;
  const place = { node, parent, children: [], before, after: null, startLine, endLine } as Omit<
    Place,
    'region'
  > as Place;
  const opaque = parent?.node?.kind === 'macro' || parent?.node?.kind === 'capture';
  place.region = parent === null ? place : opaque ? parent : parent.region;
  if (before) before.after = place;
  parent?.children.push(place);
  return place;
}

interface TextLine {
  place: Place;
  node: TextNode;
  atLineStart: boolean;
}

/** Applies `<#t>` and `<#lt>` further right on the last line; true when the line is trimmed deliberately. */
function trimLastLine(line: TextLine, trims: LineTrims | null): boolean {
  const { node } = line;
  if (!trims || (trims.lastLeft < node.start && trims.lastKeep < node.start)) return false;
  if (trims.lastLeft < node.start) return true;
  const from = lastBreak(node.text) + 1;
  if (from > 0 || line.atLineStart) node.text = node.text.slice(0, from) + node.text.slice(from).replace(/^\s+/, '');
  return true;
}

/** Applies `<#t>` and `<#rt>` further left on the first line; true when the line is trimmed deliberately. */
function trimFirstLine(line: TextLine, trims: LineTrims | null, lastLine: LineTrims | null): boolean {
  const { node, place } = line;
  if (!trims || (trims.rightsBefore === 0 && trims.keepsBefore === 0)) return false;
  if (trims.rightsBefore === 0) return true;
  const until = afterFirstBreak(node.text);
  if (until === 0) return false;
  const first = node.text.slice(0, until);
  const rest = node.text.slice(until);
  if (isBlank(first)) {
    node.text = rest;
    place.startLine++;
    line.atLineStart = true;
  } else {
    const restGoes = isBlank(rest) && ((lastLine?.lastLeft ?? -1) > node.start || !followedByOutput(place));
    node.text = first.trimEnd() + (restGoes ? '' : rest);
  }
  return true;
}

function followedByOutput(place: Place): boolean {
  for (const next of following(place)) if (heedsLeading(next)) return true;
  return false;
}

/** Characters of the first line that go: it is blank and only tags stand before it. */
function blankHead({ place, node, atLineStart }: TextLine): number {
  const until = afterFirstBreak(node.text);
  if ((until === 0 && !atLineStart) || !isBlank(node.text.slice(0, until))) return 0;
  for (const before of preceding(place)) if (heedsTrailing(before)) return 0;
  return until;
}

/** Characters of the last line that go: it is blank and only tags stand behind it. */
function blankTail({ place, node, atLineStart }: TextLine): number {
  const from = lastBreak(node.text) + 1;
  if ((from === 0 && !atLineStart) || !isBlank(node.text.slice(from))) return 0;
  for (const next of following(place)) if (heedsLeading(next)) return 0;
  return node.text.length - from;
}

/** Leaves before `place` on its first line, nearest first. */
function* preceding(place: Place): Generator<Place> {
  for (let leaf = previousLeaf(place); leaf && leaf.endLine === place.startLine; leaf = previousLeaf(leaf)) yield leaf;
}

/** Leaves after `place` on its last line, nearest first. */
function* following(place: Place): Generator<Place> {
  for (let leaf = nextLeaf(place); leaf && leaf.startLine === place.endLine; leaf = nextLeaf(leaf)) yield leaf;
}

function previousLeaf(place: Place): Place | null {
  for (let at: Place | null = place; at; at = at.parent) if (at.before) return edgeLeaf(at.before, -1);
  return null;
}

function nextLeaf(place: Place): Place | null {
  for (let at: Place | null = place; at; at = at.parent) if (at.after) return edgeLeaf(at.after, 1);
  return null;
}

/** A macro or capture is one leaf to the text around it: its content is printed elsewhere. */
function edgeLeaf(place: Place, step: 1 | -1): Place {
  let leaf = place;
  while (leaf.children.length > 0 && leaf.node?.kind !== 'macro' && leaf.node?.kind !== 'capture') {
    leaf = step === 1 ? leaf.children[0]! : leaf.children[leaf.children.length - 1]!;
  }
  return leaf;
}

/** Whether the leaf prints something at its end that blanks behind it belong to. */
function heedsTrailing(place: Place): boolean {
  const { node } = place;
  if (node?.kind === 'interpolation') return true;
  if (node?.kind !== 'text' || ignorable(place, node)) return false;
  return !/[\n\r][^\S\n\r]*$/.test(node.text);
}

/** Whether the leaf prints something at its start that blanks before it belong to. */
function heedsLeading(place: Place): boolean {
  const { node } = place;
  if (node?.kind === 'interpolation') return true;
  if (node?.kind !== 'text' || ignorable(place, node)) return false;
  return !/^[^\S\n\r]*[\n\r]/.test(node.text);
}

function atTop(place: Place): boolean {
  return place.parent?.parent === null;
}

const SILENT: ReadonlySet<string> = new Set(['macro', 'assign', 'setting', 'comment']);

function vanishes({ node, ...place }: Place): boolean {
  if (node?.kind === 'compress') return node.body.length === 0;
  return node?.kind === 'trim' || (node?.kind === 'text' && ignorable({ node, ...place }, node));
}

/** Blank text between definitions, or between one and the edge of the template: it never prints. */
function ignorable(place: Place, node: TextNode): boolean {
  if (node.text === '') return true;
  if (!isBlank(node.text) || (place.before === null && place.after === null && atTop(place))) return false;
  const silent = (side: Place | null): boolean =>
    side === null ? atTop(place) : side.node !== null && SILENT.has(side.node.kind);
  return silent(place.before) && silent(place.after);
}

function lastBreak(text: string): number {
  return Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'));
}

/** Offset behind the first line break, 0 without one. */
function afterFirstBreak(text: string): number {
  const found = /\r\n|\n|\r/.exec(text);
  return found ? found.index + found[0].length : 0;
}
