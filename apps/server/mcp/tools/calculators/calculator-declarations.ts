import { named } from '../arguments.js';
import { list, listResult, OBJECT, result, TEXT } from '../result-schemas.js';
import { declare } from '../tool.js';

const calculator = result(
  {
    kind: TEXT,
    description: TEXT,
    phrases: list(TEXT),
    inputs: list(OBJECT),
    outputs: list(OBJECT),
    output_field: TEXT,
    examples: list(OBJECT),
  },
  'kind',
  'inputs',
  'outputs',
);

export const CALCULATOR_TOOLS = {
  list: declare({
    name: 'calculators_list',
    title: 'List calculators',
    description:
      'What a CALCULATOR node can compute (fiscal periods, dates, rounding and so on): kinds with inputs, outputs and the phrases people use for them. Use one instead of writing date arithmetic in SQL.',
    operation: 'reference.read',
    arguments: {},
    result: listResult(calculator),
    wrappedAs: 'items',
    effect: 'reads',
  }),
  get: declare({
    name: 'calculators_get',
    title: 'Read a calculator',
    description: 'One kind with its inputs, defaults, outputs and example nodes that can be pasted into a document.',
    operation: 'reference.read',
    arguments: { kind: named('A kind that calculators_list names.') },
    result: calculator,
    target: 'kind',
    effect: 'reads',
  }),
};
