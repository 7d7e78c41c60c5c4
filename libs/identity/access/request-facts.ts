import type { Principal, WriteSurface } from '#libs/kernel';

/** What a door knows of a request before anybody is authenticated. */
export interface RequestFacts {
  correlationId: string;
  sourceIp?: string;
  userAgent?: string;
  surface: WriteSurface;
  path?: string;
  method?: string;
  /** The check of a stream that stands, which nobody asked for just now: it counts as no use of key or session. */
  standing?: boolean;
}

/** The part of the facts that travels on with the principal. */
export function carried(facts: RequestFacts): Pick<Principal, 'correlationId' | 'sourceIp' | 'userAgent' | 'surface'> {
  const { correlationId, sourceIp, userAgent, surface } = facts;
  return { correlationId, sourceIp, userAgent, surface };
}
