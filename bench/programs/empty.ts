// Compiled, this is what the runtime takes to start and to end.
export {};
