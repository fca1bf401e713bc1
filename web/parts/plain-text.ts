/** Sequences with which a terminal changes colours, moves its cursor or sets its title. */
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
/** Characters that no font shows, or that reorder the text around them. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Untrusted text as it can be shown: without escapes of terminals, and with a mark for each character that cannot be seen. */
export function plain(text: string): string {
  return text.replace(SEQUENCES, '').replace(UNSEEN, '\ufffd');
}
