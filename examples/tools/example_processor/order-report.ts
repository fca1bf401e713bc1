import type { Order } from './orders.ts';

const NO_REVENUE = new Set(['cancelled', 'returned']);
const TOP = 5;

interface Total {
  orders: number;
  cents: number;
}

/** Adds orders up, one at a time; money is counted in cents, so that sums are exact. */
export class OrderReport {
  #orders = 0;
  #cents = 0;
  #first = '';
  #last = '';
  readonly #byStatus = new Map<string, Total>();
  readonly #byCustomer = new Map<string, Total>();
  readonly #byProduct = new Map<string, { name: string; quantity: number; cents: number }>();

  add(order: Order): void {
    const cents = order.lines.reduce((sum, line) => sum + lineCents(line), 0);
    this.#orders += 1;
    if (this.#first === '' || order.placed_at < this.#first) this.#first = order.placed_at;
    if (order.placed_at > this.#last) this.#last = order.placed_at;
    addTo(this.#byStatus, order.status, cents);
    if (NO_REVENUE.has(order.status)) return;
    this.#cents += cents;
    addTo(this.#byCustomer, order.customer, cents);
    for (const line of order.lines) {
      const product = this.#byProduct.get(line.sku) ?? { name: line.name, quantity: 0, cents: 0 };
      product.quantity += line.quantity;
      product.cents += lineCents(line);
      this.#byProduct.set(line.sku, product);
    }
  }

  totals() {
    return { orders: this.#orders, revenue: this.#cents / 100, customers: this.#byCustomer.size };
  }

  full() {
    const byStatus = [...this.#byStatus].map(([status, total]) => ({ status, ...inMoney(total) }));
    const byCustomer = [...this.#byCustomer].map(([customer, total]) => ({ customer, ...inMoney(total) }));
    const byProduct = [...this.#byProduct].map(([sku, { name, quantity, cents }]) => ({
      sku,
      name,
      quantity,
      revenue: cents / 100,
    }));
    return {
      ...this.totals(),
      period: { first: this.#first, last: this.#last },
      by_status: byStatus.sort((a, b) => b.orders - a.orders),
      top_customers: byCustomer.sort((a, b) => b.revenue - a.revenue).slice(0, TOP),
      top_products: byProduct.sort((a, b) => b.revenue - a.revenue).slice(0, TOP),
    };
  }
}

function lineCents(line: { quantity: number; unit_price: number }): number {
  return line.quantity * Math.round(line.unit_price * 100);
}

function addTo(totals: Map<string, Total>, key: string, cents: number): void {
  const total = totals.get(key) ?? { orders: 0, cents: 0 };
  totals.set(key, { orders: total.orders + 1, cents: total.cents + cents });
}

function inMoney({ orders, cents }: Total) {
  return { orders, revenue: cents / 100 };
}
