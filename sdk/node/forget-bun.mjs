// Loaded before a TypeScript tool that the compiled `acor` runs as Bun: otherwise an `acor` that the tool starts would be Bun, too.
delete process.env.BUN_BE_BUN;
delete process.env.ACOR_AS_BN;
