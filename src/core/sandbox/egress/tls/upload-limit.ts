import type { UsedRule } from './request-rules.ts';

/** Counts bytes that the tool sends by a rule. False, and counts nothing, when they are more than it allows. */
export function mayUpload(rule: UsedRule | undefined, bytes: number): boolean {
  if (rule === undefined) return true;
  const { maxUploadBytes = Number.POSITIVE_INFINITY } = rule.rule;
  if (rule.sentBytes + bytes > maxUploadBytes) return false;
  rule.sentBytes += bytes;
  return true;
}

export function overLimit(rule: UsedRule | undefined): string {
  return `it sends more than max_upload allows, which is ${rule?.rule.maxUploadBytes} bytes in one attempt`;
}
