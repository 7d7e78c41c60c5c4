import { Injectable } from '@nestjs/common';
import { CALCULATORS, describeCalculator, findCalculator } from '#libs/calculators';
import { nearest, PenstockError } from '#libs/kernel';
import { quoteForMessage } from '#libs/typesystem';
import { serve, type ToolFamily } from '../tool.js';
import { CALCULATOR_TOOLS } from './calculator-declarations.js';

/** The reference of calculators: the same for everybody, from the catalogue that runs. */
@Injectable()
export class CalculatorTools implements ToolFamily {
  readonly tools = [
    serve(CALCULATOR_TOOLS.list, () => Promise.resolve(CALCULATORS.map(describeCalculator))),
    serve(CALCULATOR_TOOLS.get, async (_call, { kind }) => {
      const calculator = findCalculator(kind);
      if (calculator) return describeCalculator(calculator);
      const kinds = CALCULATORS.map((each) => each.kind);
      const meant = nearest(kind, kinds);
      throw new PenstockError('request.not_found', {
        message: `There is no calculator ${quoteForMessage(kind)}.${meant === undefined ? ` There are: ${kinds.join(', ')}.` : ` Did you mean "${meant}"?`}`,
        details: { allowed: kinds },
      });
    }),
  ];
}
