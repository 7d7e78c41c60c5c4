/** Why a manifest is not fetched from where it is said to lie. */
export type ForbiddenAddress = 'url' | 'endpoint' | 'scheme' | 'host';

const REGION = '[a-z]{2}(?:-[a-z]+)+-[0-9]+';
/**
 * `s3.amazonaws.com`, `s3.REGION.amazonaws.com`, the older `s3-REGION.amazonaws.com`, those with `-fips` and
 * `.dualstack`, and each with a bucket before it. Anybody may have a host of their own elsewhere below amazonaws.com.
 */
const AWS_S3 = new RegExp(
  `^(?:[a-z0-9][a-z0-9.-]*\\.)?s3(?:-fips)?(?:\\.dualstack)?(?:[.-]${REGION})?\\.amazonaws\\.com(?:\\.cn)?$`,
);

/** Only the datasource's own service, or where none is declared the S3 hosts of AWS (06 §10). */
export function admittedAddress(
  address: string,
  endpoint: { host: string; port: number } | undefined,
): URL | ForbiddenAddress {
  const url = URL.parse(address);
  if (!url || url.username !== '' || url.password !== '') return 'url';
  if (endpoint) {
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
    if (url.hostname !== endpoint.host.toLowerCase() || port !== endpoint.port) return 'endpoint';
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : 'scheme';
  }
  if (url.protocol !== 'https:') return 'scheme';
  return AWS_S3.test(url.hostname) && url.port === '' ? url : 'host';
}
