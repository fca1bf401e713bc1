/** One line of an order. */
export interface OrderLine {
  sku: string;
  name: string;
  quantity: number;
  unit_price: number;
}

/** One order of the input's `items`. */
export interface Order {
  id: string;
  customer: string;
  status: string;
  placed_at: string;
  lines: OrderLine[];
}

/** The first thing that is wrong with an order, or `undefined` when it is sound. */
export function orderProblem(value: unknown): string | undefined {
  if (!isRecord(value)) return 'is not an object';
  for (const field of ['id', 'customer', 'status', 'placed_at']) {
    if (typeof value[field] !== 'string' || value[field] === '') return `has no ${field}`;
  }
  if (Number.isNaN(Date.parse(String(value['placed_at'])))) return 'has a placed_at that is no date';
  if (!Array.isArray(value['lines']) || value['lines'].length === 0) return 'has no lines';
  for (const [index, line] of value['lines'].entries()) {
    const problem = lineProblem(line);
    if (problem) return `${problem} in line ${index + 1}`;
  }
  return undefined;
}

/** Whether a parsed JSON value is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function lineProblem(line: unknown): string | undefined {
  if (!isRecord(line)) return 'has something that is not an object';
  if (typeof line['sku'] !== 'string' || typeof line['name'] !== 'string') return 'has no sku or name';
  if (!Number.isInteger(line['quantity']) || Number(line['quantity']) < 1) return 'has no whole quantity';
  const price = line['unit_price'];
  return typeof price === 'number' && price >= 0 ? undefined : 'has no unit_price';
}
