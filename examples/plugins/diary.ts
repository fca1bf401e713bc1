import { appendFileSync } from 'node:fs';
import type { Plugin } from 'acor';

const diary: Plugin = {
  onEvent(event) {
    if (event.type === 'runner_end') appendFileSync('diary.txt', `${event.ts} ${event.state}\n`);
  },
};

export default diary;
