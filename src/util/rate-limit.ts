import { TokenBucket } from 'limiter';

/** A full bucket that allows `burst` actions at once, and `perSecond` over time: `tryRemoveTokens(1)` says whether one is allowed now. */
export function rateLimit({ perSecond, burst }: { perSecond: number; burst: number }): TokenBucket {
  const bucket = new TokenBucket({ bucketSize: burst, tokensPerInterval: perSecond, interval: 'second' });
  bucket.content = burst;
  return bucket;
}
