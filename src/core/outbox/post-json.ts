const TIMEOUT_MS = 10_000;

/**
 * Sends JSON by POST. Throws when the receiver does not take it: any answer but 2xx, also a redirect, which would move the body and its
 * headers to another address, and no answer within 10 s.
 */
export async function postJson(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`it answered ${answer.status}`);
}
