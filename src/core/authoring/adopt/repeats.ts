const REPEATS =
  /\b(?:may|can) be (?:repeated|used|given|specified|passed|provided)[^.]{0,20}(?:more than once|multiple|several|repeatedly|again)|\b(?:may|can) be repeated|repeatable|multiple times|more than once|\[array\]|several -\w's/i;
/** A repetition that changes nothing, or replaces the value. */
const WITHOUT_USE =
  /\bno (?:extra |further )?effect\b|\bthe last (?:one|set value|value|occurrence)\b|\bonly the (?:last|first)\b|\boverrid/i;

/** Whether a description says that the option adds something each time that it is given. */
export function saysRepeats(text: string): boolean {
  return text.split(/\.(?:\s|$)/).some((sentence) => REPEATS.test(sentence) && !WITHOUT_USE.test(sentence));
}
