import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Configuration, type OffsetPage } from '#libs/kernel';
import { pageOf } from '../http/input.js';

/** Offset pages within the configured bounds. */
@Injectable()
export class Paging {
  readonly #limits: { default: number; max: number };

  constructor(configuration: Configuration) {
    this.#limits = {
      default: configuration.get('datapipelines.web.page-default-limit'),
      max: configuration.get('datapipelines.web.page-max-limit'),
    };
  }

  of(request: Request): OffsetPage {
    return pageOf(request, this.#limits);
  }
}
