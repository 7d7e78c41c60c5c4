import type { Configuration } from '#libs/kernel';

/** The metadata database's URL with the user and password that were given beside it. */
export function databaseUrl(configuration: Configuration): string {
  const url = new URL(configuration.get('datapipelines.metadata-db.url') as string);
  const username = configuration.get('datapipelines.metadata-db.username');
  const password = configuration.get('datapipelines.metadata-db.password');
  if (username !== undefined) url.username = encodeURIComponent(username);
  if (password !== undefined) url.password = encodeURIComponent(password);
  return url.href;
}
