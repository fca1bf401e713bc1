/**
 * An attack on the runner itself, which is the same whatever confines the tool. Rejects when it comes through, or when its control
 * does not. Returns why it cannot be tried on this machine, where it cannot.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most have nothing to return
export type RunnerAttack = () => Promise<string | void>;
