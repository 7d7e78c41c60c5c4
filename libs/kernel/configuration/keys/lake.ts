import { integer } from '../definition.js';

export const lakeKeys = {
  'datapipelines.lake.max-files-per-table': integer({
    default: 20_000,
    min: 1,
    max: 1_000_000,
    about: 'Files one lake table may have; folders that are walked to find them count too.',
  }),
  'datapipelines.lake.mirror-refresh-seconds': integer({
    default: 300,
    min: 1,
    max: 86_400,
    about: 'Seconds after which the files of a lake that is in use are looked for anew.',
  }),
};
