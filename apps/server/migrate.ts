process.env.TZ = 'UTC';

const { ConfigurationError, loadConfiguration } = await import('#libs/kernel');
const { runMigrations } = await import('#libs/persistence');
const { databaseUrl } = await import('./boot/database-url.js');

try {
  const configuration = loadConfiguration(process.env, { purpose: 'migration' });
  const applied = await runMigrations(databaseUrl(configuration));
  console.log(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`);
} catch (error) {
  console.error(error instanceof ConfigurationError ? error.message : error);
  process.exitCode = 1;
}
