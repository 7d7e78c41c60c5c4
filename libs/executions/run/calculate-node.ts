import { evaluate } from '#libs/calculators';
import { PenstockError, RawJson } from '#libs/kernel';
import type { CalculatorNode, CalculatorScope } from '#libs/pipelines';
import { encodeWire, type TypedValue } from '#libs/typesystem';

/** What a CALCULATOR node leaves in its record (contract 01 §7.2). A long value stands in `parameters_json` only. */
export interface CalculatorRecord {
  context_key?: string;
  context_value?: RawJson;
  context_values?: Readonly<Record<string, RawJson>>;
  /** The caller gave the values: nothing was computed. */
  provided_by?: 'caller';
}

/** Longest value, in characters of its wire form, that node records and events repeat. */
const MAX_SHOWN_CHARS = 4096;
/** All values that node records repeat together: they are written at every node boundary. */
const MAX_SHOWN_IN_ALL = 256 * 1024;
/** All values of one run together: a thousand nodes may pass on the same long text. */
const MAX_TOTAL_CHARS = 16 * 1024 * 1024;

/** Runs the calculators of one run, in place. */
export class Calculation {
  #chars = 0;
  #shownChars = 0;

  constructor(
    private readonly scope: CalculatorScope,
    /** Values the caller gave, by Context key: whole nodes, never a part of one. */
    private readonly provided: ReadonlyMap<string, TypedValue>,
  ) {}

  /** Puts the node's values into the Context. @throws PenstockError `pipeline.node.calculator_failed` */
  run(node: CalculatorNode): CalculatorRecord {
    const provided = node.outputs.every(({ key }) => this.provided.has(key));
    const values = provided ? undefined : this.#evaluate(node);
    const shown: [key: string, value: RawJson][] = [];
    for (const { name, key } of node.outputs) {
      const value = values?.get(name) ?? this.provided.get(key);
      if (!value) throw failed(node, undefined, 'value', `no output "${name}" came out`);
      const wire = encodeWire(value.type, value.value);
      this.#account(node, wire.length);
      this.scope.set(key, value);
      if (this.#mayShow(wire)) shown.push([key, new RawJson(wire)]);
    }
    return { ...recordOf(node, shown), ...(provided ? { provided_by: 'caller' } : {}) };
  }

  #evaluate(node: CalculatorNode): ReadonlyMap<string, TypedValue> {
    const context = this.scope.of(node.id);
    const result = evaluate(node.calculator, node.inputs, (key) => context.get(key));
    if (result.ok) return result.outputs;
    throw failed(node, result.input, result.reason, result.message);
  }

  #mayShow({ length }: string): boolean {
    if (length > MAX_SHOWN_CHARS || this.#shownChars + length > MAX_SHOWN_IN_ALL) return false;
    this.#shownChars += length;
    return true;
  }

  #account(node: CalculatorNode, chars: number): void {
    this.#chars += chars;
    if (this.#chars <= MAX_TOTAL_CHARS) return;
    throw failed(node, undefined, 'size', `the values of all calculators together pass ${MAX_TOTAL_CHARS} characters`);
  }
}

function recordOf({ outputs }: CalculatorNode, shown: readonly [string, RawJson][]): CalculatorRecord {
  const [first] = outputs;
  if (outputs.length > 1) return { context_values: Object.fromEntries(shown) };
  if (!first) return {};
  const value = shown[0]?.[1];
  return { context_key: first.key, ...(value ? { context_value: value } : {}) };
}

function failed(node: CalculatorNode, input: string | undefined, reason: string, message: string): PenstockError {
  const { kind } = node.calculator;
  return new PenstockError('pipeline.node.calculator_failed', {
    message: `"${kind}" cannot compute${input === undefined ? '' : `, input "${input}"`}: ${message}.`,
    details: { node: node.id, kind, ...(input === undefined ? {} : { input }), reason },
  });
}
