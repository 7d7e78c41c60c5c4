import { Controller, Get, Param } from '@nestjs/common';
import { CALCULATORS, describeCalculator, findCalculator, type CalculatorReference } from '#libs/calculators';
import { PenstockError } from '#libs/kernel';
import { quoteForMessage } from '#libs/typesystem';
import { Operation } from '../http/operation.decorator.js';

/** The reference of calculators (03 §4): the same for everybody, from the catalogue that runs. */
@Controller('/api/v1/calculators')
export class CalculatorsController {
  @Get()
  @Operation('reference.read')
  list(): { calculators: CalculatorReference[] } {
    return { calculators: CALCULATORS.map(describeCalculator) };
  }

  @Get(':kind')
  @Operation('reference.read')
  read(@Param('kind') kind: string): CalculatorReference {
    const calculator = findCalculator(kind);
    if (calculator) return describeCalculator(calculator);
    throw new PenstockError('request.not_found', {
      message: `There is no calculator ${quoteForMessage(kind)}: GET /api/v1/calculators lists them.`,
      details: { allowed: CALCULATORS.map((each) => each.kind) },
    });
  }
}
