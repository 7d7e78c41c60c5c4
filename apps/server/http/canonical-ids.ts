import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { canonicalId } from '#libs/kernel';

/** Parameters of paths that address a row by its id; other parameters are names, which keep their case. */
const IDS = new Set<unknown>(['id', 'userId']);

/** An id means the same row in capitals; services and caches compare it as text, so that it has one form from here on. */
@Injectable()
export class CanonicalIds implements PipeTransform {
  transform(value: unknown, { type, data }: ArgumentMetadata): unknown {
    return type === 'param' && IDS.has(data) && typeof value === 'string' ? canonicalId(value) : value;
  }
}
