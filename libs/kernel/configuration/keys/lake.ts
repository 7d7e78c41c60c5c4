import { choice, flag, integer, optionalText } from '../definition.js';
import { ABSOLUTE_PATH } from '../forms.js';

export const lakeKeys = {
  'datapipelines.lake.s3-mode': choice(['auto', 'httpfs', 'mirror'], {
    default: 'auto',
    about:
      'How Parquet on S3 is read: by the engine itself (httpfs, which needs its extension file), through copies (mirror), or by the engine where the file is there (auto).',
  }),
  'datapipelines.duckdb.extension-directory': optionalText({
    form: ABSOLUTE_PATH,
    about: 'Folder of DuckDB extension files, as VERSION/PLATFORM/NAME.duckdb_extension below it.',
  }),
  'datapipelines.duckdb.allow-extension-install': flag({
    default: false,
    about: 'Lets the engine download an extension that is missing from the folder of extension files.',
  }),
  'datapipelines.lake.cache-dir': optionalText({
    form: ABSOLUTE_PATH,
    about: 'Folder for copies of S3 objects; unset: a folder beside the spill of the staging engines.',
  }),
  'datapipelines.lake.mirror-max-bytes-per-table': integer({
    default: 2_147_483_648,
    min: 1,
    max: 1_099_511_627_776,
    about: 'Bytes of one S3 table that are copied; a larger table is an error and never half a table.',
  }),
  'datapipelines.lake.mirror-max-bytes': integer({
    default: 10_737_418_240,
    min: 1,
    max: 109_951_162_777_600,
    about: 'Bytes of all copies of one server process; the ones used longest ago go first.',
  }),
  'datapipelines.lake.max-files-per-table': integer({
    default: 20_000,
    min: 1,
    max: 1_000_000,
    about: 'Files one lake table may have; folders that are walked to find them count too.',
  }),
  'datapipelines.lake.table-timeout-seconds': integer({
    default: 30,
    min: 1,
    max: 300,
    about: 'Seconds the files of one lake table may take, when it is registered and at every later look.',
  }),
  'datapipelines.lake.manifest-timeout-seconds': integer({
    default: 10,
    min: 1,
    max: 60,
    about: 'Seconds from asking for a manifest of lake tables to its last byte.',
  }),
  'datapipelines.lake.mirror-refresh-seconds': integer({
    default: 300,
    min: 1,
    max: 86_400,
    about: 'Seconds after which the files of a lake that is in use are looked for anew.',
  }),
};
