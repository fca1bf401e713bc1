/** An attack on the runner itself, which is the same whatever confines the tool. Rejects when it comes through, or when its control does not. */
export type RunnerAttack = () => Promise<void>;
