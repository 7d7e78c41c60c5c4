import { DEFAULT_RENDER_LIMITS } from '../../../libs/ftl/limits.js';
import { RenderFault } from '../../../libs/ftl/runtime/faults.js';
import { Interpreter } from '../../../libs/ftl/runtime/interpreter.js';
import { linkNamespaces } from '../../../libs/ftl/runtime/namespaces.js';
import { comparison } from '../../../libs/ftl/runtime/operators.js';
import {
  hash,
  integer,
  number,
  sequence,
  string,
  type DirectiveValue,
  type SequenceValue,
  type Value,
} from '../../../libs/ftl/runtime/values.js';
import { LineMap } from '../../../libs/ftl/syntax/line-map.js';
import { TemplateParser } from '../../../libs/ftl/syntax/template-parser.js';
import { allNodes } from '../../../libs/ftl/syntax/walk.js';
import { stripWhitespace } from '../../../libs/ftl/syntax/whitespace.js';
import type { ParsedTemplate } from '../../../libs/ftl/template.js';

/** Raised by the assert directives: a template's own expectation does not hold. */
export class SuiteAssertion extends Error {}

const numbers = (...values: number[]): SequenceValue => sequence(values.map((one) => integer(one)));
const letters = (...values: (string | null)[]): SequenceValue =>
  sequence(values.map((one) => (one === null ? undefined : string(one))));
const once = (items: SequenceValue): SequenceValue => ({ ...items, indexable: false });
const method = (answer: () => Value): Value => ({ kind: 'method', call: answer });
const fields = (entries: Record<string, Value | undefined>): Value =>
  hash(Object.entries(entries).map(([key, value]) => ({ key: string(key), value })));
const digits = (unscaled: bigint, scale = 0): Value => number({ unscaled, scale });

/** The data model the suite's own runner supplies, as far as Tier 1 uses it. */
function model(): Map<string, Value | undefined> {
  const three = numbers(11, 22, 33);
  const none = sequence([]);
  return new Map<string, Value | undefined>(
    Object.entries({
      message: string('Hello, world!'),
      iciIntValue: integer(2_003_034),
      listables: fields({
        list: three,
        linkedList: three,
        set: three,
        iterator: once(three),
        getIterator: method(() => once(three)),
        emptyList: none,
        emptyLinkedList: none,
        emptySet: none,
        emptyIterator: once(none),
        getEmptyIterator: method(() => once(none)),
      }),
      set: letters('a', 'b', 'c'),
      abcSet: letters('a', 'b', 'c'),
      abcSetNonSeq: once(letters('a', 'b', 'c')),
      abcCollection: once(letters('a', 'b', 'c')),
      listWithNull: letters('a', null, 'c'),
      listWithNullsOnly: letters(null, null, null),
      fNan: number(NaN),
      dNan: number(NaN),
      fNinf: number(-Infinity),
      dPinf: number(Infinity),
      fn: number(-0.05),
      dn: number(-0.05),
      ineg: digits(-5n),
      ln: digits(-5n),
      sn: digits(-5n),
      bn: digits(-5n),
      bin: digits(-5n),
      bdn: digits(-5n, 2),
      fp: number(0.05),
      dp: number(0.05),
      ip: digits(5n),
      lp: digits(5n),
      sp: digits(5n),
      bp: digits(5n),
      bip: digits(5n),
      bdp: digits(5n, 2),
      mStringC: fields({ c: string('string') }),
      mStringCNull: fields({ c: undefined }),
      mCharC: fields({ c: string('char') }),
      mCharCNull: fields({ c: undefined }),
      mMixed: fields({ c: string('char'), s: string('string'), s2: string('string2'), s2n: undefined }),
    }),
  );
}

function directives(run: Interpreter): Map<string, DirectiveValue> {
  const nothing = { start: 0, end: 0 };
  const fail = (message: string): never => {
    throw new SuiteAssertion(message);
  };
  const holds = (value: Value | undefined): boolean =>
    value?.kind === 'boolean' ? value.truth : value?.kind === 'sequence' && value.whole?.matched === true;
  return new Map<string, DirectiveValue>([
    ['assert', { kind: 'directive', run: (args) => void (holds(args.get('test')) || fail('assert')) }],
    [
      'assertEquals',
      {
        kind: 'directive',
        run: (args) => {
          const [expected, actual] = [args.get('expected'), args.get('actual')];
          // As a missing argument is in FreeMarker: a failure of the template, which `assertFails` may expect.
          if (!expected || !actual) throw run.fault(nothing, 'assertEquals needs two values.');
          if (!holds(comparison(run, '==', expected, actual, nothing))) {
            const show = (value: Value): string =>
              JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one));
            fail(`expected ${show(expected)}, got ${show(actual)}`);
          }
        },
      },
    ],
    ['noOutput', { kind: 'directive', run: (_args, body) => void run.captured(() => body?.()) }],
    [
      'assertFails',
      {
        kind: 'directive',
        run: (_args, body) => {
          const { scope, out, macroStack } = run;
          const { depth, callDepth } = run.budget;
          let failed = false;
          try {
            run.captured(() => body?.());
          } catch (fault) {
            if (!(fault instanceof RenderFault)) throw fault;
            failed = true;
          }
          Object.assign(run, { scope, out, macroStack });
          Object.assign(run.budget, { depth, callDepth });
          if (!failed) fail('assertFails: the block did not fail');
        },
      },
    ],
  ]);
}

/** Parses without the refusals that are ours, not FreeMarker's: the suite has HTML entities in its text. */
function parsed(source: string): ParsedTemplate {
  const lines = new LineMap(source);
  const root = new TemplateParser(source, 200).template();
  stripWhitespace(root, lines);
  return { source, root, lines, macros: [...allNodes(root)].filter((node) => node.kind === 'macro') };
}

/** Renders a template of the suite under the suite's settings; `more` is what only one case has in its data. */
export function renderSuiteTemplate(source: string, more: Record<string, Value> = {}): string {
  const template = parsed(source);
  const context = new Map([...model(), ...Object.entries(more)]);
  const run = new Interpreter({
    mode: 'text',
    dialect: 'POSTGRES',
    limits: DEFAULT_RENDER_LIMITS,
    main: linkNamespaces(template, new Map()),
    context,
    now: string('2026-08-05T14:30:00Z'),
  });
  run.settings.numberFormat = 'number';
  for (const [name, directive] of directives(run)) context.set(name, directive);
  run.execute(template.root);
  return run.out.plainText();
}
