import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installedFile, installFolder } from '../registry/own-files.ts';
import type { Rates } from './rates.ts';

/** The optional package with the prices of models. */
export const PRICE_PACKAGE = '@pydantic/genai-prices';

/** A price of the package: per million tokens, or with tiers for long requests. */
type Price = number | { base: number; tiers: unknown[] } | undefined;

/** The used part of the package. */
interface Package {
  calcPrice(usage: Record<string, number>, model: string): { model_price: Record<string, Price> } | null;
}

/**
 * The rates of a model by the package, which is only loaded from beside ACOR: this code runs outside of any sandbox. Undefined for an
 * unknown model, and without the package.
 */
export function tableRates(model: string): (Rates & { by: string }) | undefined {
  const table = load();
  const prices = table?.calcPrice(model);
  if (table === undefined || prices === undefined) return undefined;
  const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok } = prices;
  const hasTiers = [input_mtok, output_mtok].some((price) => typeof price === 'object');
  return {
    input: baseOf(input_mtok),
    output: baseOf(output_mtok),
    cache_read: baseOf(cache_read_mtok),
    cache_write: baseOf(cache_write_mtok),
    // Tiers depend on the length of one request, and the figures of a run are sums.
    by: `genai-prices ${table.version}${hasTiers ? ', base tier' : ''}`,
  };
}

function baseOf(price: Price): number | undefined {
  return typeof price === 'object' ? price.base : price;
}

let loaded:
  | { version: string; calcPrice(model: string): Record<string, Price> | undefined }
  | null
  | undefined;

function load() {
  loaded ??= loadFrom(installFolder()) ?? null;
  return loaded ?? undefined;
}

function loadFrom(folder: string): NonNullable<typeof loaded> | undefined {
  const file = installedFile(folder, PRICE_PACKAGE, 'dist', 'index.cjs');
  if (file === undefined) return undefined;
  try {
    const { calcPrice } = createRequire(file)(file) as Package;
    const { version } = JSON.parse(readFileSync(join(file, '..', '..', 'package.json'), 'utf8'));
    return {
      version,
      calcPrice: (model) => calcPrice({ input_tokens: 1, output_tokens: 1 }, model)?.model_price,
    };
  } catch {
    return undefined;
  }
}
