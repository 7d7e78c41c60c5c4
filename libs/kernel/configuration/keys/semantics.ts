import { integer } from '../definition.js';

export const semanticsKeys = {
  'datapipelines.semantics.max-live-facts-per-datasource': integer({
    default: 5000,
    min: 1,
    max: 1_000_000,
    about: 'Facts about one datasource that one workspace may keep unretired.',
  }),
};
