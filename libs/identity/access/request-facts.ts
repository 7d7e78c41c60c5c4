import type { Principal, WriteSurface } from '#libs/kernel';

/** What a door knows of a request before anybody is authenticated. */
export interface RequestFacts {
  correlationId: string;
  sourceIp?: string;
  userAgent?: string;
  surface: WriteSurface;
  path?: string;
  method?: string;
}

/** The part of the facts that travels on with the principal. */
export function carried(facts: RequestFacts): Pick<Principal, 'correlationId' | 'sourceIp' | 'userAgent' | 'surface'> {
  const { correlationId, sourceIp, userAgent, surface } = facts;
  return { correlationId, sourceIp, userAgent, surface };
}
