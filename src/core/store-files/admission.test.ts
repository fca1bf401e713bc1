import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admit, type Pace, type Ticket } from './admission.ts';

const FREE: Pace = { limit: null, nextInMs: 0 };

function ticket(run_id: string, isWorking = false, more: Partial<Ticket> = {}): Ticket {
  return { run_id, tool: 'tool', needsSlot: true, isWorking, ...more };
}

describe('admission to work', () => {
  it('keeps a place for each that came before', () => {
    const tickets = [ticket('r-1', true), ticket('r-2'), ticket('r-3')];
    assert.equal(
      admit('r-2', tickets, 2, () => FREE),
      'admitted',
    );
    assert.notEqual(
      admit('r-3', tickets, 2, () => FREE),
      'admitted',
    );
    assert.equal(
      admit('r-3', tickets, 3, () => FREE),
      'admitted',
    );
  });

  it('does not keep a place for one that its own tool holds up', () => {
    const tickets = [ticket('r-1', true), ticket('r-2', false, { tool: 'slow' }), ticket('r-3')];
    const paceOf = ({ tool }: Ticket) => (tool === 'slow' ? { limit: null, nextInMs: 500 } : FREE);
    assert.equal(admit('r-3', tickets, 2, paceOf), 'admitted');
  });

  it('counts the runs of a slowed tool by themselves', () => {
    const tickets = [ticket('r-1', true), ticket('r-2', true, { tool: 'other' }), ticket('r-3')];
    const slowed = () => ({ limit: 1, nextInMs: 0 });
    assert.match(JSON.stringify(admit('r-3', tickets, null, slowed)), /E_RATE_LIMIT/);
    assert.equal(admit('r-3', tickets.slice(1), null, slowed), 'admitted');
  });

  it('does not count an orchestrator', () => {
    const tickets = [ticket('r-1', true, { needsSlot: false }), ticket('r-2')];
    assert.equal(
      admit('r-2', tickets, 1, () => FREE),
      'admitted',
    );
  });
});
